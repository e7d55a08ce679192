"""Quantities compare by what they amount to."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setpoint.objects import Quantity, Struct, decode, encode

AMOUNTS = [
    ("1", 1),
    ("500m", Fraction(1, 2)),
    ("1.5Gi", 3 * 2**29),
    ("1e3", 1000),
    ("1E", 10**18),
    ("1E2", 100),
    ("-.5", Fraction(-1, 2)),
    ("2.", 2),
    ("1n", Fraction(1, 10**9)),
]


@pytest.mark.parametrize(("text", "amount"), AMOUNTS)
def test_each_form_amounts_to_something(text: str, amount: Fraction) -> None:
    assert Quantity(text).amount == amount


@pytest.mark.parametrize("text", ["", "1kk", "1 Gi", "Gi", "1.2.3", "0x1", "1ki", "NaN", "٣"])
def test_other_forms_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a quantity"):
        Quantity(text)


SUFFIXES = st.sampled_from(["n", "u", "m", "", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"])
QUANTITIES = st.builds(lambda number, suffix: Quantity(f"{number}{suffix}"), st.integers(-2000, 2000), SUFFIXES)


@given(QUANTITIES, QUANTITIES)
def test_order_and_equality_are_those_of_the_amounts(one: Quantity, other: Quantity) -> None:
    assert (one < other, one <= other, one == other, one > other, one >= other, one != other) == (
        one.amount < other.amount,
        one.amount <= other.amount,
        one.amount == other.amount,
        one.amount > other.amount,
        one.amount >= other.amount,
        one.amount != other.amount,
    )
    assert one != other or hash(one) == hash(other)


@pytest.mark.parametrize("text", ["1e9999999999", "9" * 5000, "." + "1" * 5000])
def test_an_amount_that_would_take_for_ever_to_compare_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a quantity"):
        Quantity(text)


def test_a_quantity_compares_with_text_and_numbers() -> None:
    assert Quantity("1000m") == "1"
    assert Quantity("1Ki") > 1000
    assert Quantity("1") != "one"


class Limits(Struct):
    cpu: Quantity


def test_a_quantity_is_sent_as_it_was_given() -> None:
    assert encode(Limits(cpu=Quantity("1000m"))) == b'{"cpu":"1000m"}'
    assert decode(Limits, b'{"cpu":2}').cpu == Quantity("2000m")
