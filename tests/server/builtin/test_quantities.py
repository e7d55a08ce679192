"""Quantities are stored in canonical form: the same amount, written one way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setpoint.cluster.server.builtin.equality import same
from setpoint.cluster.server.builtin.quantities import canonical, quantity_problem
from setpoint.objects import Quantity

SUFFIXES = ["m", "", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti", "e3", "E2"]


@pytest.mark.parametrize(
    ("given_as", "stored_as"),
    [
        ("1000m", "1"),
        ("1.5Gi", "1536Mi"),
        ("0.5", "500m"),
        ("1024Mi", "1Gi"),
        ("2000", "2k"),
        ("0.1m", "1m"),
        ("0", "0"),
        (2, "2"),
        ("x", "x"),
    ],
)
def test_the_canonical_form_is_that_of_the_real_server(given_as: object, stored_as: object) -> None:
    assert canonical(given_as) == stored_as


@given(st.integers(0, 10**9), st.sampled_from(SUFFIXES))
def test_the_amount_stays_and_the_form_is_final(number: int, suffix: str) -> None:
    written = canonical(f"{number}{suffix}")
    assert Quantity(written) == Quantity(f"{number}{suffix}")
    assert canonical(written) == written


def test_only_what_is_a_quantity_is_compared_by_its_amount() -> None:
    assert same({"limits": {"cpu": "1"}}, {"limits": {"cpu": "1000m"}})
    assert same({"target": {"type": "Value", "value": "1Gi"}}, {"target": {"type": "Value", "value": "1024Mi"}})
    assert same({"capacity": {"memory": {"value": "1Gi"}}}, {"capacity": {"memory": {"value": "1024Mi"}}})
    assert not same({"capacity": {"memory": {"value": "1Gi"}}}, {"capacity": {"memory": {"value": "2Gi"}}})
    assert not same({"env": [{"name": "A", "value": "1"}]}, {"env": [{"name": "A", "value": "1.0"}]})


@pytest.mark.parametrize("text", ["1e999999999", "1e-999999999", "9" * 100_000, "0." + "1" * 100_000])
def test_a_quantity_that_would_take_for_ever_is_refused_and_left_alone(text: str) -> None:
    assert "not supported" in quantity_problem(text)
    assert canonical(text) == text
