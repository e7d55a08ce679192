from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setpoint.cluster.server.schema import SchemaError, compile_schema, validate
from setpoint.cluster.server.schema.gotext import go_value


def fields(obj: Any, schema: dict[str, Any], definitions: Any = None) -> list[tuple[str, str]]:
    return [(error.field, error.message) for error in validate(obj, compile_schema(schema, definitions))]


def test_of_several_alternatives_the_one_that_fits_best_tells_what_is_wrong() -> None:
    integer = {"type": "integer"}
    first = {"properties": {"kind": {"enum": ["A"]}, "a": {"minimum": 3}}, "required": ["kind", "a"]}
    second = {"properties": {"kind": {"enum": ["B"]}, "b": {"minimum": 3}}, "required": ["kind", "b"]}
    union = {"type": "object", "properties": {"kind": {"type": "string"}, "a": integer, "b": integer}, "oneOf": [first, second]}
    schema = {"type": "object", "properties": {"x": union}}
    none = ("<nil>", 'Invalid value: "": "x" must validate one and only one schema (oneOf). Found none valid')
    assert fields({"x": {"kind": "B", "b": 1}}, schema) == [
        none,
        ("x.b", "Invalid value: 1: x.b in body should be greater than or equal to 3"),
    ]
    assert fields({"x": {"a": 5}}, schema) == [none, ("x.kind", "Required value")]


def test_a_finding_of_two_branches_is_told_once() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "allOf": [{"required": ["a"]}, {"required": ["a"]}],
        "required": ["a"],
    }
    assert [field for field, _ in fields({}, schema)] == ["a", "<nil>"]


def test_true_is_not_one() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "enum": [1]}, "b": {"type": "boolean", "enum": [True]}}}
    assert [field for field, _ in fields({"n": True, "b": 1}, schema)] == ["b", "b", "n", "n"]
    assert fields({"n": 1.0, "b": True}, schema) == []


def test_lists_that_are_sets_or_maps_are_checked_at_any_depth() -> None:
    item = {
        "type": "object",
        "properties": {
            "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "object", "x-kubernetes-map-type": "atomic"}}
        },
    }
    schema = {"type": "object", "properties": {"map": {"type": "object", "additionalProperties": item}}}
    obj = {"map": {"k": {"tags": [{"a": 1, "b": 2}, {"b": 2, "a": 1}, {}]}}}
    assert fields(obj, schema) == [("map[k].tags[1]", 'Duplicate value: {"a":1,"b":2}')]


def test_list_maps_with_several_keys_compare_those_that_are_there() -> None:
    items = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    schema = {
        "type": "object",
        "properties": {"l": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a", "b"], "items": items}},
    }
    assert fields({"l": [{"a": "x"}, {"b": "x"}, {"a": "x"}, {}]}, schema) == [("l[2]", 'Duplicate value: {"a":"x"}')]


def test_built_in_kinds_refer_to_definitions_also_to_themselves() -> None:
    definitions = {
        "Tree": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}}},
        }
    }
    tree = {"name": "a", "children": [{"name": "b", "children": [{"name": 1}, {}]}, {"name": None}]}
    assert fields(tree, {"$ref": "#/components/schemas/Tree"}, definitions) == [
        (
            "children[0].children[0].name",
            'Invalid value: "integer": children[0].children[0].name in body must be of type string: "integer"',
        ),
        ("children[0].children[1].name", "Required value"),
    ]


def test_a_reference_to_nowhere_and_a_bad_pattern_are_errors_of_the_schema() -> None:
    with pytest.raises(SchemaError, match="leads nowhere"):
        compile_schema({"$ref": "#/components/schemas/None"}, {})
    with pytest.raises(SchemaError, match="missing closing"):
        compile_schema({"type": "string", "pattern": "("})


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (True, "true"),
        (12345678, "12345678"),
        (1.0, "1"),
        (0.5, "0.5"),
        (-0.0, "-0"),
        (100000.0, "100000"),
        (1e6, "1e+06"),
        (123456.5, "123456.5"),
        (1234567.25, "1.23456725e+06"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (-2.5e7, "-2.5e+07"),
        (1e21, "1e+21"),
        ('a"b\\\n\x01\u2028é\u00a0\x7f', '"a\\"b\\\\\\n\\x01\\u2028é\\u00a0\\x7f"'),
        (
            {"b": "<&>", "a": [1.0, 1e20, 1e21, 1e-6, 1e-7, None]},
            '{"a":[1,100000000000000000000,1e+21,0.000001,1e-7,null],"b":"\\u003c\\u0026\\u003e"}',
        ),
    ],
)
def test_values_are_shown_as_go_shows_them(value: Any, shown: str) -> None:
    assert go_value(value) == shown


VALUES = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-3, 3) | st.text("ab", max_size=3)
SCHEMAS: Any = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["string", "integer", "number", "boolean"]),
        "minimum": st.integers(-2, 2),
        "maxLength": st.integers(0, 2),
        "pattern": st.sampled_from(["^a", "b$"]),
        "enum": st.lists(st.integers(0, 2) | st.text("ab", max_size=1), min_size=1, max_size=3),
        "nullable": st.booleans(),
    },
)


@given(VALUES, st.lists(SCHEMAS, min_size=1, max_size=3))
def test_branches_agree_with_logic(value: Any, branches: list[dict[str, Any]]) -> None:
    valid = [not fields(value, branch) for branch in branches]
    if value is not None:  # branches say nothing about null
        assert (not fields(value, {"anyOf": branches})) is any(valid)
        assert (not fields(value, {"allOf": branches})) is all(valid)
        assert (not fields(value, {"oneOf": branches})) is (sum(valid) == 1)
        assert (not fields(value, {"not": branches[0]})) is not valid[0]
