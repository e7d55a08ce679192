"""JSON patches: the standard's examples, and what a real server was seen to do where the standard is silent or stricter."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.talk import CONFIGMAPS, Refused, config_map, talk

from setpoint.cluster.server.patches.json_patch import MalformedPatch, PatchFailed, json_patch, operations_of

JSON_PATCH = "application/json-patch+json"

WORKS = {
    "add a member": ({"a": 1}, [{"op": "add", "path": "/b", "value": 2}], {"a": 1, "b": 2}),
    "add replaces": ({"a": 1}, [{"op": "add", "path": "/a", "value": 2}], {"a": 2}),
    "add an element": ({"a": [1, 3]}, [{"op": "add", "path": "/a/1", "value": 2}], {"a": [1, 2, 3]}),
    "add at the end": ({"a": [1]}, [{"op": "add", "path": "/a/-", "value": 2}], {"a": [1, 2]}),
    "add after the last": ({"a": [1]}, [{"op": "add", "path": "/a/1", "value": 2}], {"a": [1, 2]}),
    "remove a member": ({"a": 1, "b": 2}, [{"op": "remove", "path": "/a"}], {"b": 2}),
    "remove an element": ({"a": [1, 2]}, [{"op": "remove", "path": "/a/0"}], {"a": [2]}),
    "remove from the end": ({"a": [1, 2]}, [{"op": "remove", "path": "/a/-1"}], {"a": [1]}),
    "replace": ({"a": {"b": 1}}, [{"op": "replace", "path": "/a/b", "value": 2}], {"a": {"b": 2}}),
    "replace what is not there": ({"a": {}}, [{"op": "replace", "path": "/a/b", "value": 2}], {"a": {"b": 2}}),
    "replace everything": ({"a": 1}, [{"op": "replace", "path": "", "value": {"b": 2}}], {"b": 2}),
    "move": ({"a": {"b": 1}, "c": {}}, [{"op": "move", "from": "/a/b", "path": "/c/d"}], {"a": {}, "c": {"d": 1}}),
    "copy": ({"a": [1]}, [{"op": "copy", "from": "/a", "path": "/b"}, {"op": "add", "path": "/b/-", "value": 2}], {"a": [1], "b": [1, 2]}),
    "copy nothing": ({"a": 1}, [{"op": "copy", "from": "/x", "path": "/b"}], {"a": 1, "b": None}),
    "test": ({"a": {"b": [1, "x"]}}, [{"op": "test", "path": "/a", "value": {"b": [1, "x"]}}], {"a": {"b": [1, "x"]}}),
    "test that nothing is there": ({"a": 1}, [{"op": "test", "path": "/b", "value": None}], {"a": 1}),
    "escaped keys": ({"a/b": 1, "m~n": 2}, [{"op": "remove", "path": "/a~1b"}, {"op": "remove", "path": "/m~0n"}], {}),
    "a null value": ({}, [{"op": "add", "path": "/a", "value": None}], {"a": None}),
}
FAILS = {
    "test differs": ({"a": 1}, {"op": "test", "path": "/a", "value": 2}),
    "test of another type": ({"a": 1}, {"op": "test", "path": "/a", "value": True}),
    "remove nothing": ({"a": 1}, {"op": "remove", "path": "/b"}),
    "move nothing": ({"a": 1}, {"op": "move", "from": "/b", "path": "/c"}),
    "no parent": ({"a": 1}, {"op": "add", "path": "/b/c", "value": 1}),
    "a parent that holds nothing": ({"a": "x"}, {"op": "add", "path": "/a/c", "value": 1}),
    "beyond the end": ({"a": [1]}, {"op": "add", "path": "/a/3", "value": 1}),
    "no index": ({"a": [1]}, {"op": "remove", "path": "/a/x"}),
    "no operation": ({"a": 1}, {"path": "/a", "value": 1}),
    "another operation": ({"a": 1}, {"op": "hop", "path": "/a"}),
    "no pointer": ({"a": 1}, {"op": "add", "path": "a", "value": 1}),
    "no path": ({"a": 1}, {"op": "add", "value": 1}),
    "remove everything": ({"a": 1}, {"op": "remove", "path": ""}),
}


@pytest.mark.parametrize("case", WORKS)
def test_operations_do_what_they_say(case):
    document, operations, expected = WORKS[case]
    before = json.dumps(document)
    assert json_patch(document, operations) == expected
    assert json.dumps(document) == before


@pytest.mark.parametrize("case", FAILS)
def test_what_does_not_fit_fails(case):
    document, operation = FAILS[case]
    with pytest.raises(PatchFailed):
        json_patch(document, [operation])


def test_a_patch_is_a_list_of_objects():
    with pytest.raises(MalformedPatch, match="cannot unmarshal object into Go value of type"):
        operations_of({"op": "add"})
    with pytest.raises(MalformedPatch, match="cannot unmarshal string into Go value of type"):
        operations_of(["add"])


keys = st.text("a/~01", max_size=4)
scalars = st.none() | st.booleans() | st.integers() | keys
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=6)


@given(st.dictionaries(keys, values, max_size=3), keys, values)
def test_adding_then_removing_changes_nothing(document, key, value):
    path = "/" + key.replace("~", "~0").replace("/", "~1")
    before = {name: kept for name, kept in document.items() if name != key}
    assert json_patch(before, [{"op": "add", "path": path, "value": value}, {"op": "remove", "path": path}]) == before


def test_the_server_applies_json_patches():
    async def main(t):
        await t.do("create", CONFIGMAPS, "default/", config_map("a", data={"x": "1"}))
        patch = [{"op": "test", "path": "/data/x", "value": "1"}, {"op": "add", "path": "/data/y", "value": "2"}]
        changed = await t.do("patch", CONFIGMAPS, "default/a", patch, content_type=JSON_PATCH)
        assert changed["data"] == {"x": "1", "y": "2"}

    talk(main)


EXPECTED = {"op": "test", "path": "/data/x", "value": "1"}
REFUSED = {
    "fails": ([{**EXPECTED, "value": "2"}], 422, "the server rejected our request due to an error in our request"),
    "no list": (EXPECTED, 400, "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"),
    "no JSON": (b"x", 400, "invalid JSON patch"),
    "renames": (
        [{"op": "replace", "path": "/metadata/name", "value": "b"}],
        400,
        "the name of the object (b) does not match the name on the URL (a)",
    ),
    "too long": (
        [EXPECTED] * 10_001,
        413,
        "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_the_server_refuses_json_patches_as_the_real_one(case):
    patch, code, message = REFUSED[case]

    async def main(t):
        await t.do("create", CONFIGMAPS, "default/", config_map("a", data={"x": "1"}))
        with pytest.raises(Refused) as refused:
            await t.do("patch", CONFIGMAPS, "default/a", patch, content_type=JSON_PATCH)
        assert (refused.value.code, refused.value.status["message"]) == (code, message)

    talk(main)


def test_an_object_that_has_moved_on_is_not_patched():
    async def main(t):
        await t.do("create", CONFIGMAPS, "default/", config_map("a", data={"x": "1"}))
        patch = [{"op": "replace", "path": "/metadata/resourceVersion", "value": "1"}, {"op": "remove", "path": "/data/x"}]
        with pytest.raises(Refused) as refused:
            await t.do("patch", CONFIGMAPS, "default/a", patch, content_type=JSON_PATCH)
        assert (refused.value.code, refused.value.status["reason"]) == (409, "Conflict")

    talk(main)


def test_copies_add_up_to_three_mebibytes_at_most() -> None:
    doubling = [{"op": "copy", "from": "/data", "path": f"/data/{at}"} for at in range(40)]
    with pytest.raises(PatchFailed, match="copies more than 3145728 bytes"):
        json_patch({"data": {"a": "x" * 1000}}, doubling)
    few = [{"op": "copy", "from": "/data/a", "path": f"/data/{at}"} for at in range(2000)]
    assert len(json_patch({"data": {"a": "x" * 1000}}, few)["data"]) == 2001
