"""Tables for the walks: validate, field_set, compare, merge, remove, extract, reconcile."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setpoint.cluster.server.structured.atoms import DEDUCED, Atom, TypedSchema
from setpoint.cluster.server.structured.compare import compare, field_set, reconcile
from setpoint.cluster.server.structured.fieldset import FieldSet
from setpoint.cluster.server.structured.merge import extract, merge, remove
from setpoint.cluster.server.structured.validate import explain, validate
from setpoint.cluster.server.structured.values import StructureError, same

LAW = settings(deadline=None, max_examples=60)
STRING, NUMBER = {"type": "string"}, {"type": "integer"}
PROPERTIES: dict[str, Any] = {
    "s": STRING,
    "n": NUMBER,
    "b": {"type": "boolean"},
    "time": {"type": "string", "format": "date-time"},
    "any": {},
    "list": {"type": "array", "items": STRING},
    "set": {"type": "array", "items": STRING, "x-kubernetes-list-type": "set"},
    "numbers": {"type": "array", "items": {"type": "number"}, "x-kubernetes-list-type": "set"},
    "map": {"type": "object", "additionalProperties": STRING},
    "atomic": {"type": "object", "additionalProperties": STRING, "x-kubernetes-map-type": "atomic"},
    "struct": {"type": "object", "properties": {"x": STRING, "y": STRING, "deep": {"$ref": "#/components/schemas/Deep"}}},
    "whole": {"allOf": [{"$ref": "Deep"}], "x-kubernetes-map-type": "atomic"},
    "items": {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name", "kind"],
        "items": {"$ref": "#/definitions/Item"},
    },
    "merged": {
        "type": "array",
        "items": {"type": "object", "properties": {"id": STRING, "v": STRING}},
        "x-kubernetes-patch-strategy": "merge",
        "x-kubernetes-patch-merge-key": "id",
    },
    "kept": {"type": "object", "properties": {"known": STRING}, "x-kubernetes-preserve-unknown-fields": True},
    "raw": {"$ref": "io.k8s.apimachinery.pkg.runtime.RawExtension"},
    "quantity": {"$ref": "io.k8s.apimachinery.pkg.api.resource.Quantity"},
}
DEFINITIONS: dict[str, Any] = {
    "Root": {"type": "object", "properties": PROPERTIES},
    "Deep": {"type": "object", "properties": {"z": STRING, "again": {"$ref": "Deep"}}},
    "Item": {
        "type": "object",
        "properties": {"name": STRING, "kind": {"type": "string", "default": "plain"}, "v": STRING, "w": STRING, "tags": PROPERTIES["set"]},
    },
}
ROOT = TypedSchema.from_openapi({"$ref": "Root"}, DEFINITIONS, built_in=False).root


def P(name: str, kind: str = "plain") -> str:
    return f'k:{{"kind":"{kind}","name":"{name}"}}'


def fields(*paths: str) -> FieldSet:
    """Paths written with blanks between elements, ``f:`` left out."""
    return FieldSet.of(*([e if e[1:2] == ":" else "f:" + e for e in path.split(" ")] for path in paths))


@pytest.mark.parametrize(
    ("value", "problems"),
    [
        ({"s": "x", "n": 1, "b": True, "time": "now", "any": [{}], "raw": {"x": 1}, "quantity": 5}, []),
        ({"n": 1.5, "s": None, "list": None, "map": None, "items": None}, []),
        ({"s": 1}, [".s: expected string, got &value.valueUnstructured{Value:1}"]),
        ({"n": "1"}, [".n: expected numeric (int or float), got string"]),
        ({"n": True}, [".n: expected numeric (int or float), got bool"]),
        ({"b": 1}, [".b: expected boolean, got &{1}"]),
        ({"time": {}}, [".time: expected any scalar, got &{map[]}"]),
        ({"list": "x"}, [".list: expected list, got &{x}"]),
        ({"struct": []}, [".struct: expected map, got &{[]}"]),
        ({"struct": {"nope": 1}, "nope": 2}, [".struct.nope: field not declared in schema", ".nope: field not declared in schema"]),
        ({"kept": {"nope": 1, "known": "x"}}, []),
        ({"list": ["a", "a", 1]}, [".list[2]: expected string, got &value.valueUnstructured{Value:1}"]),
        ({"set": ["a", "a"]}, ['.set: duplicate entries for key [="a"]']),
        ({"numbers": [1, 1.0]}, [".numbers: duplicate entries for key [=1]"]),
        ({"items": [{"name": "a"}, {"name": "a", "kind": "plain"}]}, ['.items: duplicate entries for key [kind="plain",name="a"]']),
        ({"items": [{"v": "x"}, {"name": "a"}, {"v": "y"}]}, ['.items: duplicate entries for key [kind="plain"]']),
        ({"items": [None]}, [".items: element 0: associative list with keys may not have a null element"]),
        ({"items": [{"name": "a", "nope": 1}]}, ['.items[kind="plain",name="a"].nope: field not declared in schema']),
        (
            {"merged": [{"v": "x"}]},
            [
                '.merged: element 0: associative list with keys has an element that omits all key fields ["id"] '
                "(and doesn't have default values for any key fields)"
            ],
        ),
        ({"set": [{}]}, [".set: element 0: associative list without keys has an element that's a map type"]),
        ({"set": [[]]}, [".set: element 0: not supported: associative list with lists as elements"]),
    ],
)
def test_validate(value: Any, problems: list[str]) -> None:
    assert validate(ROOT, value) == problems


def test_duplicates_are_allowed_in_live_objects() -> None:
    assert validate(ROOT, {"set": ["a", "a"], "items": [{"name": "a"}, {"name": "a"}]}, allow_duplicates=True) == []


def test_several_problems_make_one_message() -> None:
    assert explain(["a: x"]) == "a: x"
    assert explain(["a: x", "b: y"]) == "errors:\n  a: x\n  b: y"


@pytest.mark.parametrize(
    ("value", "owned"),
    [
        ({"s": "x", "n": 0}, fields("s", "n")),
        ({"s": None, "map": None, "list": None, "struct": None}, fields("s", "map", "list", "struct")),
        ({"map": {}, "struct": {}, "list": [], "set": [], "items": []}, fields("map", "struct", "list")),
        ({"struct": {"x": "1", "deep": {"z": "1"}}}, fields("struct x", "struct deep z")),
        ({"map": {"a": "1"}, "atomic": {"a": "1"}}, fields("map a", "atomic")),
        ({"list": ["a"], "set": ["a", "b"]}, fields("list", 'set v:"a"', 'set v:"b"')),
        ({"items": [{"name": "a", "v": "1"}]}, fields(f"items {P('a')}", f"items {P('a')} name", f"items {P('a')} v")),
        ({"items": [{"name": "a", "v": "1"}, {"name": "a", "w": "2"}]}, fields(f"items {P('a')}")),
        ({"kept": {"known": "x", "other": {"a": [1]}}}, fields("kept known", "kept other", "kept other a")),
        ({"raw": {"a": 1}, "whole": {"z": "1"}, "any": {"a": {"b": 1}}}, fields("raw", "whole", "any a", "any a b")),
    ],
)
def test_field_set(value: Any, owned: FieldSet) -> None:
    assert field_set(ROOT, value) == owned


@pytest.mark.parametrize(
    ("old", "new", "removed", "modified", "added"),
    [
        ({"s": "1", "n": 1}, {"s": "1", "n": 1.0}, [], [], []),
        ({"any": True}, {"any": 1}, [], ["any"], []),
        ({"s": "1"}, {"s": "2", "n": 1}, [], ["s"], ["n"]),
        ({"s": None}, {}, ["s"], [], []),
        ({"struct": {"x": "1"}}, {}, ["struct", "struct x"], [], []),
        ({}, {"struct": {"deep": {"z": "1"}}}, [], [], ["struct", "struct deep", "struct deep z"]),
        ({"struct": {"x": "1"}}, {"struct": {}}, ["struct x"], [], []),
        ({"struct": None}, {"struct": {}}, [], ["struct"], []),
        ({"list": ["a"], "atomic": {"a": "1"}}, {"list": ["b"], "atomic": {"b": "1"}}, [], ["list", "atomic"], []),
        ({"set": ["a", "b"]}, {"set": ["b", "a"]}, [], [], []),
        ({"set": ["a"]}, {"set": ["b"]}, ['set v:"a"'], [], ['set v:"b"']),
        ({"set": []}, {"set": None}, [], ["set"], []),
        ({"set": []}, {"set": ["a"]}, [], [], ['set v:"a"']),
        ({"items": [{"name": "a"}]}, {"items": [{"name": "a", "v": "1"}]}, [], [], [f"items {P('a')} v"]),
        (
            {"items": [{"name": "a"}]},
            {"items": [{"name": "a", "kind": "x"}]},
            [f"items {P('a')}", f"items {P('a')} name"],
            [],
            [f"items {P('a', 'x')}", f"items {P('a', 'x')} name", f"items {P('a', 'x')} kind"],
        ),
        # Items that cannot be told apart are owned together.
        ({"set": ["a", "a"]}, {"set": ["a", "a"]}, [], [], []),
        ({"set": ["a", "a"]}, {"set": ["a", "a", "a"]}, [], ['set v:"a"'], []),
        ({"set": ["a", "a"]}, {"set": []}, ['set v:"a"'], [], []),
        ({"set": ["a"]}, {"set": ["a", "a"]}, ['set v:"a"'], [], ['set v:"a"']),
        (
            {"items": [{"name": "a", "v": "1"}, {"name": "a"}]},
            {"items": [{"name": "a"}]},
            [f"items {P('a')}"],
            [],
            [f"items {P('a')}", f"items {P('a')} name"],
        ),
        # Where the form changes, what was inside goes.
        ({"any": {"a": 1}}, {"any": "x"}, ["any a"], ["any"], []),
        ({"any": "x"}, {"any": {"a": 1}}, [], ["any"], ["any a"]),
        ({"any": [1]}, {"any": [2]}, [], ["any"], []),
    ],
)
def test_compare(old: Any, new: Any, removed: list[str], modified: list[str], added: list[str]) -> None:
    change = compare(ROOT, old, new)
    assert (change.removed, change.modified, change.added) == (fields(*removed), fields(*modified), fields(*added))


def names(*items: str) -> dict[str, Any]:
    return {"set": list(items)}


@pytest.mark.parametrize(
    ("live", "applied", "merged"),
    [
        ({"s": "1", "n": 1}, {"s": "2"}, {"s": "2", "n": 1}),
        ({"struct": {"x": "1"}, "map": {"a": "1"}}, {"struct": {"y": "2"}, "map": {"b": "2"}}, None),
        ({"atomic": {"a": "1"}, "list": ["a"]}, {"atomic": {"b": "2"}, "list": []}, {"atomic": {"b": "2"}, "list": []}),
        ({"map": {"a": "1"}, "set": ["a"]}, {"map": {}, "set": None}, {"map": {"a": "1"}, "set": ["a"]}),
        ({"map": {}, "set": None}, {"map": None, "set": []}, {"map": None, "set": []}),
        ({"any": {"a": 1}}, {"any": "x"}, {"any": "x"}),
        ({"any": "x"}, {"any": {"a": 1}}, {"any": {"a": 1}}),
        (names("a", "b", "c"), names("c", "a"), names("b", "c", "a")),
        (names("a", "b", "c"), names("x"), names("a", "b", "c", "x")),
        (names("a", "b", "c", "d", "e"), names("d", "x", "b"), names("a", "c", "d", "e", "x", "b")),
        (names("a", "b", "c"), names("b", "x"), names("a", "b", "c", "x")),
        (names("a", "b"), names("x", "a"), names("x", "a", "b")),
        (names("a", "a", "b"), names("a"), names("a", "b")),
        (names("a", "a"), names("b"), names("a", "a", "b")),
        (
            {"items": [{"name": "a", "v": "1"}, {"name": "b", "v": "1"}]},
            {"items": [{"name": "b", "kind": "plain", "w": "2"}]},
            {"items": [{"name": "a", "v": "1"}, {"name": "b", "v": "1", "kind": "plain", "w": "2"}]},
        ),
        (
            {"items": [{"name": "a", "v": "1"}, {"name": "a", "v": "2"}]},
            {"items": [{"name": "a", "w": "2"}]},
            {"items": [{"name": "a", "w": "2"}]},
        ),
        (
            {"items": [{"name": "a", "tags": ["x"]}]},
            {"items": [{"name": "a", "tags": ["y"]}]},
            {"items": [{"name": "a", "tags": ["x", "y"]}]},
        ),
    ],
)
def test_merge(live: Any, applied: Any, merged: Any) -> None:
    if merged is None:
        merged = {"struct": {"x": "1", "y": "2"}, "map": {"a": "1", "b": "2"}}
    assert merge(ROOT, live, applied) == merged


def test_an_applied_item_may_not_occur_twice() -> None:
    with pytest.raises(StructureError, match="duplicate"):
        merge(ROOT, names("a"), names("b", "b"))


@pytest.mark.parametrize(
    ("value", "gone", "left"),
    [
        ({"s": "1", "n": 1}, ["s"], {"n": 1}),
        ({"s": "1"}, ["s"], None),
        ({"struct": {"x": "1", "y": "2"}}, ["struct x"], {"struct": {"y": "2"}}),
        ({"struct": {"x": "1"}, "s": "1"}, ["struct x"], {"struct": None, "s": "1"}),
        ({"struct": {"x": "1"}, "s": "1"}, ["struct"], {"s": "1"}),
        ({"atomic": {"a": "1"}}, ["map a"], {"atomic": {"a": "1"}}),
        (names("a", "b"), ['set v:"a"'], names("b")),
        ({"items": [{"name": "a", "v": "1"}, {"name": "b"}]}, [f"items {P('a')} v"], {"items": [{"name": "a"}, {"name": "b"}]}),
        ({"items": [{"name": "a"}], "s": "1"}, [f"items {P('a')}"], {"items": None, "s": "1"}),
    ],
)
def test_remove(value: Any, gone: list[str], left: Any) -> None:
    assert remove(ROOT, value, fields(*gone)) == left


@pytest.mark.parametrize(
    ("value", "wanted", "left"),
    [
        ({"s": "1", "n": 1}, ["s"], {"s": "1"}),
        ({"struct": {"x": "1", "y": "2"}, "s": "1"}, ["struct x"], {"struct": {"x": "1"}}),
        ({"map": {}, "atomic": {"a": "1"}, "list": ["a"]}, ["map", "atomic", "list"], {"map": {}, "atomic": {"a": "1"}, "list": ["a"]}),
        (names("a", "b"), ['set v:"a"'], names("a")),
        ({"items": [{"name": "a", "v": "1"}, {"name": "b"}]}, [f"items {P('a')} v"], {"items": [{"v": "1"}]}),
        ({"s": "1"}, [], None),
    ],
)
def test_extract(value: Any, wanted: list[str], left: Any) -> None:
    assert extract(ROOT, value, fields(*wanted)) == left


def test_who_owned_inside_what_became_atomic_owns_the_whole() -> None:
    assert reconcile(fields("atomic a", "atomic b", "s"), ROOT) == fields("atomic", "s")
    assert reconcile(fields('list v:"a"', "struct deep z"), ROOT) == fields("list", "struct deep z")
    assert reconcile(fields("whole z"), ROOT) == fields("whole")


def test_reconciling_changes_nothing_where_nothing_became_atomic() -> None:
    owned = fields("map a", "struct deep again z", f"items {P('a')} v", "kept other list", "atomic", "gone from schema x")
    assert reconcile(owned, ROOT) is owned
    assert reconcile(owned, DEDUCED) is owned


@pytest.mark.parametrize(
    ("a", "b"), [(1, True), (0, False), ([1], [True]), ({"a": 0}, {"a": False}), ({"a": None}, {}), ([], {}), ("1", 1)]
)
def test_values_that_json_tells_apart_are_not_the_same(a: Any, b: Any) -> None:
    assert not same(a, b)
    assert not same(b, a)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from("ab"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from("abc"), JSON, max_size=3)
LETTERS = st.lists(st.sampled_from("abcdefg"), unique=True)


@LAW
@given(OBJECTS, OBJECTS)
def test_an_object_compared_with_itself_has_not_changed(a: Any, b: Any) -> None:
    assert not compare(DEDUCED, a, merge(DEDUCED, a, a))
    assert bool(compare(DEDUCED, a, b)) == (not same(a, b))


@LAW
@given(OBJECTS, OBJECTS)
def test_what_is_removed_one_way_is_added_the_other(a: Any, b: Any) -> None:
    there, back = compare(DEDUCED, a, b), compare(DEDUCED, b, a)
    assert (there.removed, there.modified, there.added) == (back.added, back.modified, back.removed)


@LAW
@given(OBJECTS, OBJECTS)
def test_applying_twice_is_applying_once(live: Any, applied: Any) -> None:
    once = merge(DEDUCED, live, applied)
    assert same(merge(DEDUCED, once, applied), once)


@LAW
@given(LETTERS, LETTERS)
def test_merged_lists_hold_everything_once_and_keep_the_applied_order(live: list[str], applied: list[str]) -> None:
    merged = merge(ROOT, names(*live), names(*applied))["set"]
    assert sorted(merged) == sorted({*live, *applied})
    assert [item for item in merged if item in applied] == applied
    assert [item for item in merged if item not in applied] == [item for item in live if item not in applied]


@LAW
@given(OBJECTS)
def test_removing_all_that_is_owned_leaves_nothing_owned(value: Any) -> None:
    left = remove(DEDUCED, value, field_set(DEDUCED, value))
    assert left is None or not field_set(DEDUCED, left)


def test_schemas_are_converted_when_they_are_looked_at() -> None:
    looked_at: list[str] = []

    class Watched(dict[str, Any]):
        def __getitem__(self, name: str) -> Any:
            looked_at.append(name)
            return super().__getitem__(name)

    root: Atom = TypedSchema.from_openapi({"$ref": "Root"}, Watched(DEFINITIONS)).root
    assert looked_at == []
    field_set(root, {"s": "x"})
    assert looked_at == ["Root"]
    field_set(root, {"struct": {"deep": {"again": {"z": "x"}}}})
    assert looked_at == ["Root", "Deep"]


@LAW
@given(OBJECTS, OBJECTS)
def test_merging_hands_back_what_does_not_change(live: Any, applied: Any) -> None:
    merged = merge(DEDUCED, live, applied)
    assert (merged is live) == same(merged, live)
    assert all(merged[key] is value for key, value in live.items() if key not in applied)
