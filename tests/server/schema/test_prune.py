from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from setpoint.cluster.server.schema import compile_schema, prune

ITEM = {"type": "object", "properties": {"name": {"type": "string"}, "deep": {"type": "object", "properties": {"a": {"type": "string"}}}}}
SCHEMA = compile_schema(
    {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {
                    "items": {"type": "array", "items": ITEM},
                    "map": {"type": "object", "additionalProperties": ITEM},
                    "keep": {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"known": ITEM}},
                    "keepList": {"type": "array", "x-kubernetes-preserve-unknown-fields": True, "items": ITEM},
                    "any": {"type": "object", "additionalProperties": True},
                    "embedded": {
                        "type": "object",
                        "x-kubernetes-embedded-resource": True,
                        "properties": {"spec": {"type": "object", "properties": {"a": {"type": "string"}}}},
                    },
                    "n": {"type": "integer"},
                },
            }
        },
    }
)


def pruned(spec: Any, **root: Any) -> tuple[Any, list[str]]:
    obj = {"apiVersion": "a/v1", "kind": "K", "metadata": {"name": "x"}, "spec": spec, **root}
    result, unknown = prune(obj, SCHEMA)
    return result["spec"], unknown


def test_unknown_fields_go_and_are_named_in_order() -> None:
    spec, unknown = pruned({"n": 1, "zz": {"a": 1}, "items": [{"name": "a"}, {"name": "b", "x": 1, "deep": {"a": "1", "b": 2}}]}, extra=1)
    assert spec == {"n": 1, "items": [{"name": "a"}, {"name": "b", "deep": {"a": "1"}}]}
    assert unknown == ["extra", "spec.items[1].deep.b", "spec.items[1].x", "spec.zz"]


def test_unknown_metadata_comes_first_and_that_of_embedded_resources_last() -> None:
    embedded = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "foo": 1}, "spec": {"a": "1", "b": 2}}
    obj = {"metadata": {"zz": 1, "ownerReferences": [{"uid": "u", "x": 1}]}, "a": 1, "spec": {"embedded": embedded}}
    result, unknown = prune(obj, SCHEMA)
    assert unknown == ["metadata.ownerReferences[0].x", "metadata.zz", "a", "spec.embedded.spec.b", "spec.embedded.metadata.foo"]
    assert result == {
        "metadata": {"ownerReferences": [{"uid": "u"}]},
        "spec": {"embedded": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"a": "1"}}},
    }


def test_preserved_nodes_keep_the_unknown_but_prune_below_what_they_know() -> None:
    keep = {"other": {"x": [1, {"y": 2}]}, "known": {"name": "a", "b": 1}}
    spec, unknown = pruned({"keep": keep})
    assert spec == {"keep": {"other": {"x": [1, {"y": 2}]}, "known": {"name": "a"}}}
    assert unknown == ["spec.keep.known.b"]


def test_items_of_a_preserved_list_are_preserved_too() -> None:
    items = [{"name": "a", "b": 1, "deep": {"a": "1", "c": 2}}]
    spec, unknown = pruned({"keepList": items})
    assert spec == {"keepList": [{"name": "a", "b": 1, "deep": {"a": "1"}}]}
    assert unknown == ["spec.keepList[0].deep.c"]


def test_maps_are_pruned_by_the_schema_of_their_values() -> None:
    assert pruned({"map": {"k": {"name": "a", "x": 1}}}) == ({"map": {"k": {"name": "a"}}}, ["spec.map.k.x"])


def test_maps_of_anything_keep_scalars_alone() -> None:
    assert pruned({"any": {"a": 1, "b": {"c": 1}}}) == ({"any": {"a": 1, "b": {}}}, ["spec.any.b.c"])


def test_values_of_another_type_are_left_for_validation() -> None:
    assert pruned({"items": "x", "map": [1], "n": {"a": 1}}) == ({"items": "x", "map": [1], "n": {}}, ["spec.n.a"])


def test_built_in_kinds_hold_anything_where_their_schema_says_nothing() -> None:
    definitions: dict[str, Any] = {
        "Thing": {
            "type": "object",
            "properties": {
                "raw": {"$ref": "#/components/schemas/Raw"},
                "more": {"allOf": [{"$ref": "#/components/schemas/Thing"}], "default": {}},
            },
        },
        "Raw": {"type": "object"},
    }
    thing = compile_schema({"$ref": "#/components/schemas/Thing"}, definitions)
    obj = {"raw": {"a": {"b": 1}}, "more": {"more": {"raw": {"c": 1}, "x": 1}}, "y": 1}
    assert prune(obj, thing) == ({"raw": {"a": {"b": 1}}, "more": {"more": {"raw": {"c": 1}}}}, ["more.more.x", "y"])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*"ab", "name", "deep", "items", "keep", "known"]), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(["items", "map", "keep", "keepList", "any", "n", "zz"]), JSON))
def test_pruning_leaves_its_argument_and_finds_nothing_the_second_time(spec: Any) -> None:
    obj = {"apiVersion": "a/v1", "kind": "K", "metadata": {"name": "x"}, "spec": spec}
    before = repr(obj)
    once, unknown = prune(obj, SCHEMA)
    assert repr(obj) == before
    assert prune(once, SCHEMA) == (once, [])
    assert (once == obj) is (unknown == [])


@given(st.dictionaries(st.sampled_from(["items", "map", "keep", "keepList", "any", "n", "zz"]), JSON))
def test_an_object_of_which_nothing_is_dropped_is_handed_back_itself(spec: Any) -> None:
    obj = {"apiVersion": "a/v1", "kind": "K", "metadata": {"name": "x"}, "spec": spec}
    once, _ = prune(obj, SCHEMA)
    assert prune(once, SCHEMA)[0] is once
