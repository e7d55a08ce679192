"""YAML means what it means to Kubernetes' own programs: the right column is what kubectl 1.37 made of the left one."""

from __future__ import annotations

import math
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from setpoint.objects.yaml_text import documents

MEANT: list[tuple[str, Any]] = [
    *(
        (text, text)
        for text in ("12:30", "12:30:45", "2026-01-31", "2001-12-14t21:59:43.10-05:00", "=", "<<", "yEs", "1.2.3", "100m", "1Gi")
    ),
    *((text, text) for text in ("0o8", "0b2", "0x", "_1", "1e", "1,000", "0x7fffffffffffffffff", "1e400", "9" * 400)),
    *((text, True) for text in ("y", "Y", "yes", "on", "True", "TRUE")),
    *((text, False) for text in ("n", "No", "OFF", "false")),
    *((text, None) for text in ("~", "null", "Null", "")),
    *(("0777", 511), ("0o17", 15), ("-0o17", -15), ("0b101", 5), ("0x1F", 31), ("0X1f", 31), ("1_000", 1000), ("08", 8), ("-0", 0)),
    *(("1e5", 100000), ("1.0", 1), ("5.", 5), (".5", 0.5), ("1.5e3", 1500), ("1e30", 1e30), ("1_0.5", 10.5)),
    *(("9223372036854775807", 2**63 - 1), ("99999999999999999999999", 1e23)),
]


@pytest.mark.parametrize(("text", "value"), MEANT)
def test_a_value_without_quotes_means_what_it_means_to_kubectl(text: str, value: Any) -> None:
    ((found,),) = (document.values() for document in documents(f"a: {text}"))
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("text", [".inf", "-.INF", ".NaN"])
def test_what_json_has_no_number_for_is_refused(text: str) -> None:
    with pytest.raises(yaml.YAMLError, match="JSON has no"):
        documents(f"a: {text}")


def test_documents_anchors_and_merges_are_read_and_nothing_nests_too_deeply() -> None:
    assert documents("a: &x {b: 1}\nc: {<<: *x, d: 2}\n---\n- !!str 1\n") == [{"a": {"b": 1}, "c": {"b": 1, "d": 2}}, ["1"]]
    assert documents("") == []
    with pytest.raises(yaml.YAMLError, match="nested too deeply"):
        documents("a: " + "[" * 5000)


def test_json_is_yaml_however_it_is_indented() -> None:
    assert documents('{\n\t"a": [\n\t\t1.0]}') == [{"a": [1.0]}]
    assert documents("{a: 1}\n---\n{b: 2}") == [{"a": 1}, {"b": 2}]


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(deadline=None)
def test_no_number_is_changed(value: float) -> None:
    (found,) = documents(repr(value))
    assert math.isclose(found, value, rel_tol=0)
