"""The rules of ownership that a recorded answer does not show by itself."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setpoint.cluster.server.structured import ApplyConflict, ApplyInvalid, TypedSchema, apply, same_but_for_timestamps, track_update
from setpoint.cluster.server.structured.compare import field_set
from setpoint.cluster.server.structured.fieldset import EMPTY, FieldSet
from setpoint.cluster.server.structured.merge import merge
from setpoint.cluster.server.structured.update import Conflicts, prune
from setpoint.cluster.server.structured.update import apply as apply_rules

LAW = settings(deadline=None, max_examples=30)
Json = dict[str, Any]
STRING = {"type": "string"}
SPEC: Json = {
    "type": "object",
    "properties": {
        "size": {"type": "integer"},
        "name": STRING,
        "set": {"type": "array", "items": STRING, "x-kubernetes-list-type": "set"},
        "map": {"type": "object", "additionalProperties": STRING},
        "items": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "properties": {"name": STRING, "v": STRING, "w": STRING}},
        },
    },
}


def schema_of(spec: Json) -> TypedSchema:
    return TypedSchema.from_openapi({"type": "object", "properties": {"spec": spec}}, None)


SCHEMA = schema_of(SPEC)
T1, T2, T3 = (f"2024-01-01T00:00:0{n}Z" for n in (1, 2, 3))


def thing(**spec: Any) -> Json:
    return {"apiVersion": "test.dev/v1", "kind": "Thing", "metadata": {"name": "it"}, "spec": spec}


def put(live: Json | None, new: Json, manager: str = "u", now: str = T1, **rest: Any) -> Json:
    rest = {"api_version": "test.dev/v1", "subresource": "", **rest}
    return track_update(live, new, rest.pop("schema", SCHEMA), manager=manager, now=now, **rest)


def applied(live: Json | None, new: Json, manager: str = "a", now: str = T1, **rest: Any) -> Json:
    rest = {"api_version": "test.dev/v1", "subresource": "", "force": False, **rest}
    return apply(live, new, rest.pop("schema", SCHEMA), manager=manager, now=now, **rest)


def owners(live: Json) -> Json:
    return {entry["manager"]: entry["fieldsV1"].get("f:spec") for entry in live["metadata"].get("managedFields", [])}


def times(live: Json) -> Json:
    return {entry["manager"]: entry.get("time") for entry in live["metadata"]["managedFields"]}


def test_applying_the_same_again_changes_nothing() -> None:
    live = applied(None, thing(size=1, items=[{"name": "x", "v": "1"}]), now=T1)
    assert applied(live, thing(size=1, items=[{"name": "x", "v": "1"}]), now=T2) == live


def test_an_update_moves_the_time_of_those_who_gain_and_of_nobody_else() -> None:
    live = put(None, thing(size=1, name="x"), "first", T1)
    live = put(live, {**live, "spec": {"size": 2, "name": "x"}}, "second", T2)
    assert owners(live) == {"first": {".": {}, "f:name": {}}, "second": {"f:size": {}}}
    assert times(live) == {"first": T1, "second": T2}
    live = put(live, {**live, "spec": {"name": "x"}}, "first", T3)
    assert times(live) == {"first": T1}


def test_an_update_without_a_change_keeps_the_entries_as_they_are() -> None:
    live = put(None, thing(size=1))
    assert put(live, copy.deepcopy(live), "other", T2) == live


def test_neither_objects_nor_requests_are_changed() -> None:
    live = put(None, thing(size=1, map={"a": "1"}), "u")
    new, want = thing(size=2, map={}), thing(size=3, map={"b": "1"})
    before = copy.deepcopy((live, new, want))
    put(live, new, "v")
    applied(live, want, "a", force=True)
    assert (live, new, want) == before


def test_no_manager_is_unknown() -> None:
    assert list(owners(put(None, thing(size=1), ""))) == ["unknown"]


def test_what_cannot_be_compared_keeps_the_live_entries() -> None:
    live = put(None, thing(size=1), "u")
    broken = thing(size=2, items=[None])
    assert put(live, broken, "v")["metadata"]["managedFields"] == live["metadata"]["managedFields"]
    assert "managedFields" not in put(None, broken)["metadata"]


@pytest.mark.parametrize("metadata", [None, [], "x"])
def test_an_update_never_fails_for_strange_metadata(metadata: Any) -> None:
    assert put(None, {**thing(size=1), "metadata": metadata})["spec"] == {"size": 1}


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"operation": "Other"},
        {"apiVersion": ""},
        {"fieldsType": "FieldsV2"},
        {"fieldsType": ""},
        {"fieldsV1": {"k:x": {}}},
        {"fieldsV1": ["f:x"]},
        {"time": "soon"},
        "entry",
    ],
)
def test_unreadable_managed_fields_in_a_request_are_taken_from_the_live_object(entry: Any) -> None:
    live = put(None, thing(size=1), "u")
    good = live["metadata"]["managedFields"][0]
    sent = {**good, **entry} if isinstance(entry, dict) and entry else [entry]
    request = {**live, "metadata": {**live["metadata"], "managedFields": [sent, good]}}
    assert put(live, request, "v")["metadata"]["managedFields"] == [good]


@pytest.mark.parametrize("said", [{"f:size": None}, {".": ["x"], "f:size": {".": {}}}, {".": {}, "f:size": {"x:1": {}}}])
@pytest.mark.parametrize("write", [put, applied])
def test_managed_fields_that_a_request_spells_its_own_way_are_written_as_usual(write: Any, said: Json) -> None:
    entry = {"apiVersion": "test.dev/v1", "fieldsType": "FieldsV1", "operation": "Update", "time": T1, "fieldsV1": {"f:spec": said}}
    metadata = {"name": "it", "managedFields": [{**entry, "manager": "x"}, {**entry, "manager": "u"}]}
    usual: Json = {".": {}, "f:size": {}} if "." in said else {"f:size": {}}
    live = {**thing(size=1), "metadata": metadata}
    after = put(thing(size=1), live) if write is put else applied(live, thing(size=1))
    assert {owner: fields for owner, fields in owners(after).items() if owner != "a"} == {"x": usual, "u": usual}
    # Also of who sets again what it owns already.
    again = put(live, {**thing(size=2), "metadata": {"name": "it"}}, manager="u")
    assert owners(again) == {"u": usual, **({"x": {}} if "." in said else {})}


def test_unreadable_live_managed_fields_refuse_an_apply() -> None:
    live = {**thing(size=1), "metadata": {"name": "it", "managedFields": [{"operation": "Apply"}]}}
    with pytest.raises(ApplyInvalid, match="failed to decode managed fields: apiVersion must not be empty"):
        applied(live, thing(size=1))


def test_times_are_written_in_utc_and_whole_seconds() -> None:
    live = put(None, thing(size=1), "u")
    live["metadata"]["managedFields"][0]["time"] = "2024-01-01T02:00:00.123456+02:00"
    assert times(put(live, thing(size=1, name="x"), "v", T2)) == {"u": "2024-01-01T00:00:00Z", "v": T2}


def test_reset_fields_are_owned_by_nobody_and_taken_from_nobody() -> None:
    live = put(None, thing(size=1), "status", reset=[])
    after = put(live, thing(size=2, name="x"), "main", T2, reset=[["spec"]])
    assert after["metadata"]["managedFields"] == live["metadata"]["managedFields"]
    after = applied(live, thing(size=1, name="x"), "applier", reset=[["spec", "name"]])
    assert owners(after)["applier"] == {"f:size": {}}


def test_entries_of_other_versions_of_the_kind_take_part() -> None:
    live = put(None, {**thing(size=1, name="x"), "apiVersion": "test.dev/v1beta1"}, "u", api_version="test.dev/v1beta1")
    live = put(live, {**live, "spec": {"size": 2, "name": "x"}}, "u", T2)
    assert [(entry["apiVersion"], entry["fieldsV1"]["f:spec"]) for entry in live["metadata"]["managedFields"]] == [
        ("test.dev/v1beta1", {".": {}, "f:name": {}}),
        ("test.dev/v1", {"f:size": {}}),
    ]
    with pytest.raises(ApplyConflict) as conflict:
        applied(live, thing(size=3, name="y"))
    assert conflict.value.message == (
        'Apply failed with 2 conflicts: conflicts with "u" using test.dev/v1:\n- .spec.size\n'
        'conflicts with "u" using test.dev/v1beta1:\n- .spec.name'
    )


def test_an_applier_keeps_one_entry_across_versions() -> None:
    live = applied(None, thing(size=1), api_version="test.dev/v1beta1")
    live = applied(live, thing(size=1, name="x"), now=T2)
    assert [entry["apiVersion"] for entry in live["metadata"]["managedFields"]] == ["test.dev/v1"]


def test_who_owned_inside_what_became_atomic_conflicts_for_the_whole() -> None:
    live = applied(None, thing(map={"a": "1"}), "a")
    atomic = schema_of({"type": "object", "properties": {"map": {**SPEC["properties"]["map"], "x-kubernetes-map-type": "atomic"}}})
    with pytest.raises(ApplyConflict) as conflict:
        applied(live, thing(map={"b": "1"}), "b", schema=atomic)
    assert conflict.value.causes == [('"a"', ".spec.map")]
    forced = applied(live, thing(map={"b": "1"}), "b", force=True, schema=atomic)
    assert forced["spec"] == {"map": {"b": "1"}}
    assert owners(forced) == {"b": {"f:map": {}}}


def test_without_a_schema_maps_merge_and_lists_are_whole() -> None:
    deduced = TypedSchema.deduced()
    live = applied(None, thing(deep={"a": {"b": 1}}, items=[1]), "a", schema=deduced)
    live = applied(live, thing(deep={"a": {"c": 2}}), "b", schema=deduced)
    assert live["spec"] == {"deep": {"a": {"b": 1, "c": 2}}, "items": [1]}
    with pytest.raises(ApplyConflict, match=r"\.spec\.items$"):
        applied(live, thing(items=[2]), "b", schema=deduced)


def test_an_apply_that_leaves_a_manager_with_nothing_drops_it() -> None:
    live = applied(None, thing(size=1), "a")
    live = applied(live, {key: value for key, value in thing().items() if key != "spec"}, "a", T2)
    assert "managedFields" not in live["metadata"]
    assert live.get("spec") is None


def test_duplicates_of_an_updater_are_owned_together_and_replaced_by_an_apply() -> None:
    live = put(None, thing(items=[{"name": "x", "v": "1"}, {"name": "x", "v": "2"}, {"name": "y"}]), "u")
    assert owners(live)["u"]["f:items"] == {".": {}, 'k:{"name":"x"}': {}, 'k:{"name":"y"}': {".": {}, "f:name": {}}}
    assert applied(live, thing(items=[{"name": "y", "v": "1"}]), "a")["spec"]["items"][:2] == live["spec"]["items"][:2]
    forced = applied(live, thing(items=[{"name": "x", "v": "3"}]), "a", force=True)
    assert forced["spec"]["items"] == [{"name": "x", "v": "3"}, {"name": "y"}]


def test_times_alone_are_no_change() -> None:
    a, b = put(None, thing(size=1), "u", T1), put(None, thing(size=1), "u", T2)
    assert a != b
    assert same_but_for_timestamps(a, b)
    assert not same_but_for_timestamps(a, put(None, thing(size=1), "v", T1))
    assert not same_but_for_timestamps(a, put(None, thing(size=2), "u", T1))
    assert not same_but_for_timestamps(a, thing(size=1))


# Empty containers are left out: once one is owned, dropping what was in it leaves null, here as on a real server.
VALUES = st.fixed_dictionaries(
    {},
    optional={
        "size": st.integers(1, 2),
        "set": st.lists(st.sampled_from("ab"), min_size=1, unique=True),
        "map": st.dictionaries(st.sampled_from("ab"), st.sampled_from("12"), min_size=1, max_size=2),
        "items": st.lists(
            st.fixed_dictionaries({"name": st.sampled_from("xy")}, optional={"v": st.sampled_from("12"), "w": st.sampled_from("12")}),
            unique_by=lambda item: item["name"],
            min_size=1,
            max_size=2,
        ),
    },
)
STEPS = st.lists(st.tuples(st.sampled_from("ab"), VALUES), min_size=1, max_size=6)


@LAW
@given(STEPS)
def test_what_appliers_say_is_what_there_is(steps: list[tuple[str, Json]]) -> None:
    """After forced applies the object holds exactly what somebody owns, and the last applier has all its way."""
    live = _anchored()
    for manager, spec in steps:
        live = applied(live, thing(**spec), manager, force=True)
        assert applied(live, thing(**spec), manager, T2) == live, "a second apply is a no-op"
        for field, value in spec.items():
            if field == "size":
                assert live["spec"]["size"] == value
            if field == "map":
                assert value.items() <= (live["spec"]["map"] or {}).items()
            if field == "set":
                assert [item for item in live["spec"]["set"] or [] if item in value] == value
        gone = field_set(SCHEMA.root, live).difference(_all_owned(live))
        assert not [path for path in gone if path[0] == "f:spec" and path[-1] not in ("f:spec", "f:map", "f:set", "f:items")]


def _anchored() -> Json:
    """An object that always has an owner (one without gets "before-first-apply" again and again) and something in its spec."""
    return applied(None, thing(name="anchor"), "anchor")


def _all_owned(live: Json) -> FieldSet:
    owned = EMPTY
    for entry in live["metadata"].get("managedFields", []):
        owned = owned.union(FieldSet.from_wire(entry["fieldsV1"]))
    return owned


@LAW
@given(STEPS, VALUES)
def test_an_unforced_apply_succeeds_exactly_if_it_changes_nothing_of_others(steps: list[tuple[str, Json]], spec: Json) -> None:
    live = _anchored()
    for manager, said in steps:
        live = applied(live, thing(**said), manager, force=True)
    forced = applied(live, thing(**spec), "c", force=True)
    others = {entry["manager"]: entry["fieldsV1"] for entry in live["metadata"].get("managedFields", [])}
    kept = {entry["manager"]: entry["fieldsV1"] for entry in forced["metadata"].get("managedFields", []) if entry["manager"] != "c"}
    if kept == others:
        assert applied(live, thing(**spec), "c") == forced
    else:
        with pytest.raises(ApplyConflict):
            applied(live, thing(**spec), "c")


@LAW
@given(VALUES, VALUES, VALUES)
def test_who_still_applies_all_of_the_last_time_takes_nothing_away(live: Json, last: Json, spec: Json) -> None:
    root = SCHEMA.root
    now = merge(root, {"spec": last}, {"spec": spec})
    merged = merge(root, {"spec": live}, now)
    mine = field_set(root, now)
    before = field_set(root, {"spec": last}).intersection(mine)
    assert prune(root, merged, {"me": mine}, before) == merged


def test_conflicts_name_the_owners() -> None:
    root = SCHEMA.root
    mine, wanted = {"spec": {"size": 1}}, {"spec": {"size": 2}}
    with pytest.raises(Conflicts) as conflicts:
        apply_rules(root, mine, wanted, field_set(root, wanted), {"me": field_set(root, mine)}, "you", force=False, reset=EMPTY)
    assert list(conflicts.value.sets) == ["me"]
