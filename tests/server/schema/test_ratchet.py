"""What a stricter schema makes of changes to objects that were there before it, as observed of a real kube-apiserver."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from setpoint.cluster.server.schema import compile_schema, validate_change

SCHEMA = compile_schema(
    {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "minimum": 5},
            "o": {"type": "object", "required": ["y"], "properties": {"x": {"type": "string"}, "y": {"type": "string"}}},
            "l": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer", "maximum": 3}}}},
            "lm": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["k"],
                "items": {
                    "type": "object",
                    "required": ["k"],
                    "properties": {"k": {"type": "string"}, "n": {"type": "integer", "maximum": 3}},
                },
            },
            "m": {"type": "object", "additionalProperties": {"type": "string", "maxLength": 2}},
            "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        },
    }
)
OLD: dict[str, Any] = {
    "a": 1,
    "o": {"x": "1"},
    "l": [{"n": 9}, {"n": 1}],
    "lm": [{"k": "p", "n": 9}, {"k": "q", "n": 1}],
    "m": {"long": "xxxx", "a.b": "yyyy", "a": "zzzz"},
    "set": ["d", "d"],
}


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        ({}, []),
        ({"a": 2}, ["a"]),
        ({"a": 6}, []),
        ({"o": {"x": "2"}}, ["o.y"]),
        ({"o": {"x": "2", "y": "2"}}, []),
        ({"l": [{"n": 9}, {"n": 2}]}, ["l[0].n"]),
        ({"lm": [{"k": "p", "n": 9}, {"k": "q", "n": 2}]}, []),
        ({"lm": [{"k": "q", "n": 2}, {"k": "p", "n": 9}]}, []),
        ({"lm": [{"k": "q", "n": 2}, {"k": "p", "n": 8}]}, ["lm[1].n"]),
        ({"m": {**OLD["m"], "b": "1"}}, []),
        ({"m": {**OLD["m"], "long": "yyyyy"}}, ["m.long"]),
        ({"m": {**OLD["m"], "a.b": "yyyyy"}}, ["m.a.b"]),
        ({"set": ["d", "d", "e", "e"]}, []),
    ],
)
def test_only_what_a_change_makes_wrong_is_refused(change: dict[str, Any], refused: list[str]) -> None:
    assert [error.field for error in validate_change({**deepcopy(OLD), **change}, OLD, SCHEMA)] == refused


def test_duplicates_are_refused_where_there_were_none() -> None:
    old = {**OLD, "set": ["d"]}
    assert [error.field for error in validate_change({**old, "set": ["d", "d"]}, old, SCHEMA)] == ["set[1]"]
