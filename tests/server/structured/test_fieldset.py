"""Field sets obey the laws of sets, and FieldsV1 keeps them."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setpoint.cluster.server.structured import elements
from setpoint.cluster.server.structured.fieldset import EMPTY, FieldSet, display_path

LAW = settings(deadline=None, max_examples=60)
SCALARS = st.one_of(st.text(max_size=3), st.integers(-20, 20), st.booleans(), st.floats(allow_nan=False, allow_infinity=False))
ELEMENTS = st.one_of(
    st.sampled_from(["f:a", "f:b", "f:c", "v:1", 'k:{"n":"x"}', 'k:{"n":"x","p":1}', "i:0"]),
    st.text(max_size=4).map(elements.field),
    SCALARS.map(elements.value),
    SCALARS.map(lambda value: elements.key(["name"], [value])),
)
SETS = st.lists(st.lists(ELEMENTS, min_size=1, max_size=4), max_size=8).map(lambda paths: FieldSet.of(*paths))


def paths(fields: FieldSet) -> set[tuple[str, ...]]:
    return set(fields)


@LAW
@given(SETS, SETS)
def test_union_intersection_and_difference_are_those_of_the_paths(a: FieldSet, b: FieldSet) -> None:
    assert paths(a.union(b)) == paths(a) | paths(b)
    assert paths(a.intersection(b)) == paths(a) & paths(b)
    assert paths(a.difference(b)) == paths(a) - paths(b)


@LAW
@given(SETS, SETS)
def test_recursive_difference_takes_everything_below_a_member(a: FieldSet, b: FieldSet) -> None:
    gone = paths(b)
    left = {path for path in paths(a) if not any(path[:length] in gone for length in range(1, len(path) + 1))}
    assert paths(a.recursive_difference(b)) == left


@LAW
@given(SETS, SETS)
def test_operations_leave_no_empty_nodes_behind(a: FieldSet, b: FieldSet) -> None:
    def sound(fields: FieldSet) -> bool:
        return all(child and sound(child) for child in fields.children.values())

    assert all(map(sound, (a.union(b), a.intersection(b), a.difference(b), a.recursive_difference(b))))


@LAW
@given(SETS, SETS)
def test_disjoint_difference_is_the_set_itself(a: FieldSet, b: FieldSet) -> None:
    rest = a.difference(b)
    assert rest.difference(b) is rest
    assert a.intersection(b) or a.difference(b) is a


@LAW
@given(SETS)
def test_wire_form_round_trips(a: FieldSet) -> None:
    wire = json.loads(json.dumps(a.to_wire()))
    assert FieldSet.from_wire(wire) == a
    assert json.dumps(FieldSet.from_wire(wire).to_wire()) == json.dumps(wire)


@LAW
@given(SETS)
def test_every_path_of_a_set_is_in_it(a: FieldSet) -> None:
    assert all(path in a for path in a)
    assert ("f:not there",) not in a


def test_elements_come_as_fields_keys_values_positions() -> None:
    mixed = ["i:10", "i:9", "v:null", "v:true", 'v:"a"', "v:10", "v:9.5", 'k:{"b":1}', 'k:{"a":"z"}', 'k:{"a":2}', "f:b", "f:B", "f:a"]
    assert list(FieldSet.of(*([element] for element in mixed)).to_wire()) == [
        "f:B", "f:a", "f:b", 'k:{"a":2}', 'k:{"a":"z"}', 'k:{"b":1}', "v:9.5", "v:10", 'v:"a"', "v:true", "v:null", "i:9", "i:10",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("read", "canonical"),
    [
        ('k:{"b":1, "a":"x"}', 'k:{"a":"x","b":1}'),
        ("v:1.0", "v:1"),
        ("v:1e2", "v:100"),
        ("v:1.5", "v:1.5"),
        ('v:"<&>"', 'v:"\\u003c\\u0026\\u003e"'),
        ('v:"\\u00e4"', 'v:"ä"'),
        ("i:03", "i:3"),
        ("f:anything {at} all", "f:anything {at} all"),
        ("x:unknown", None),
    ],
)
def test_elements_have_one_spelling(read: str, canonical: str | None) -> None:
    assert elements.canonical(read) == canonical


@pytest.mark.parametrize("text", ["", "f", "name", "k:[1]", "k:{", "v:", 'v:1 "more"', "v:NaN", "i:x"])
def test_malformed_elements_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="path element"):
        elements.canonical(text)


@pytest.mark.parametrize(
    ("wire", "expected"),
    [
        ({}, []),
        ({"f:a": {}}, [("f:a",)]),
        ({"f:a": {"f:b": {}}}, [("f:a", "f:b")]),
        ({"f:a": {".": {}, "f:b": {}}}, [("f:a",), ("f:a", "f:b")]),
        ({"f:a": {".": {}}}, [("f:a",)]),
        ({"f:a": {"z:unknown": {}}}, [("f:a",)]),
        ({"z:unknown": {"f:b": {}}, "f:a": None}, [("f:a",)]),
        ({'k:{"b":1,"a":2}': {}, 'k:{"a":2,"b":1}': {"f:x": {}}}, [('k:{"a":2,"b":1}',), ('k:{"a":2,"b":1}', "f:x")]),
    ],
)
def test_wire_form_is_read_leniently(wire: dict[str, Any], expected: list[tuple[str, ...]]) -> None:
    assert FieldSet.from_wire(wire) == FieldSet.of(*expected)


def test_what_is_below_an_element_must_be_an_object() -> None:
    with pytest.raises(ValueError, match="not an object"):
        FieldSet.from_wire({"f:a": {"f:b": 1}})


def test_paths_are_displayed_as_people_read_them() -> None:
    path = ["f:spec", "f:ports", 'k:{"port":80,"protocol":"TCP"}', "f:tags", 'v:"a"', "i:3"]
    assert display_path(path) == '.spec.ports[port=80,protocol="TCP"].tags[="a"][3]'


def test_the_empty_set_is_false_and_neutral() -> None:
    a = FieldSet.of(["f:a", "f:b"])
    assert not EMPTY
    assert a.union(EMPTY) is a
    assert a.difference(a) == EMPTY
