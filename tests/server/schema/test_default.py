from __future__ import annotations

from typing import Any

from setpoint.cluster.server.schema import apply_defaults, compile_schema, drop_nulls

SCHEMA = compile_schema(
    {
        "type": "object",
        "properties": {
            "n": {"type": "integer", "default": 1},
            "nullable": {"type": "integer", "nullable": True, "default": 2},
            "plain": {"type": "string"},
            "free": {"type": "string", "nullable": True},
            "sub": {"type": "object", "default": {}, "properties": {"x": {"type": "string", "default": "y"}}},
            "late": {"type": "object", "properties": {"x": {"type": "string", "default": "y"}}},
            "items": {"type": "array", "items": {"type": "object", "properties": {"p": {"type": "integer", "default": 80}}}},
            "map": {"type": "object", "additionalProperties": {"type": "object", "properties": {"p": {"type": "integer", "default": 80}}}},
            "words": {"type": "object", "additionalProperties": {"type": "string"}},
        },
    }
)


def complete(obj: dict[str, Any]) -> dict[str, Any]:
    return apply_defaults(drop_nulls(obj, SCHEMA), SCHEMA)


ALWAYS = {"n": 1, "nullable": 2, "sub": {"x": "y"}}


def test_defaults_are_filled_from_the_outside_in() -> None:
    assert complete({}) == ALWAYS


def test_a_value_is_kept_also_if_it_is_zero() -> None:
    assert complete({"n": 0, "sub": {"x": ""}}) == {"n": 0, "nullable": 2, "sub": {"x": ""}}


def test_null_counts_as_left_out_unless_the_field_is_nullable() -> None:
    obj = {"n": None, "nullable": None, "plain": None, "free": None, "words": {"a": None, "b": "c"}}
    assert complete(obj) == {"n": 1, "nullable": None, "free": None, "sub": {"x": "y"}, "words": {"b": "c"}}


def test_nulls_in_lists_stay_for_validation_to_refuse() -> None:
    assert complete({"items": [None, {}]})["items"] == [None, {"p": 80}]


def test_objects_that_are_not_there_are_not_made_for_the_defaults_inside_them() -> None:
    assert complete({}) == ALWAYS
    assert complete({"late": {}, "map": {"a": {}, "b": {"p": 1}}}) == {**ALWAYS, "late": {"x": "y"}, "map": {"a": {"p": 80}, "b": {"p": 1}}}


def test_the_argument_and_the_schema_are_left_as_they_are() -> None:
    obj: dict[str, Any] = {"items": [{}], "plain": None}
    first = complete(obj)
    first["sub"]["x"] = "changed"
    assert obj == {"items": [{}], "plain": None}
    assert complete({})["sub"] == {"x": "y"}
