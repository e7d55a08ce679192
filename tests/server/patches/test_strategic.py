"""Strategic merge beyond what may be asked of a real server: where that crashes, and laws that hold for all patches."""

from __future__ import annotations

import contextlib
import copy
import json
from typing import Any

import pytest
from hypothesis import given
from tests.server.patches.cases import BASES
from tests.server.patches.drawn import STRATEGIC
from tests.server.talk import CONFIGMAPS, Refused, config_map, talk

from setpoint.api.operation import STRATEGIC_MERGE_PATCH
from setpoint.cluster.server import builtin
from setpoint.cluster.server.patches.strategic import PatchCrash, PatchFailure, PatchType, patch_type, strategic_merge


def type_of(kind: str) -> PatchType:
    return patch_type(next(each for each in builtin.kinds() if each.kind == kind).schema_name)


CRASHES: dict[str, tuple[Any, Any]] = {
    "a null at the head of a list": ({}, {"finalizers": [None]}),
    "a retained key that is a map": ({}, {"$retainKeys": [{}]}),
    "an order of maps for a list of texts": ({"finalizers": ["x.io/a"]}, {"$setElementOrder/finalizers": [{}], "finalizers": ["x.io/b"]}),
    "a merge key that is a map": ({"ownerReferences": [{"uid": "u"}]}, {"ownerReferences": [{"uid": {}}]}),
}


@pytest.mark.parametrize("case", CRASHES)
def test_where_the_real_server_crashes_the_patch_fails(case: str) -> None:
    live, patch = CRASHES[case]
    if case == "a null at the head of a list":
        # With nothing there the list is taken as it is; only lists that merge look at their items.
        live = {"finalizers": []}
    with pytest.raises(PatchCrash):
        strategic_merge({"metadata": live}, {"metadata": patch}, type_of("ConfigMap"))


def test_a_crash_is_answered_with_500() -> None:
    async def main(t: Any) -> None:
        await t.do("create", CONFIGMAPS, "default/", config_map("a", data={"x": "1"}))
        with pytest.raises(Refused) as refused:
            await t.do("patch", CONFIGMAPS, "default/a", {"data": {"$retainKeys": [{}]}}, content_type=STRATEGIC_MERGE_PATCH)
        assert (refused.value.code, refused.value.status["message"]) == (500, "runtime error: comparing uncomparable type")

    talk(main)


def test_a_type_is_read_once() -> None:
    pod = type_of("Deployment").field("spec").type.field("template").type.field("spec").type
    assert pod is type_of("Pod").field("spec").type
    assert pod.list_field("containers").type is pod.list_field("initContainers").type
    assert pod.list_field("volumes").strategy == "merge"
    assert pod.list_field("volumes").merge_key == "name"


@given(STRATEGIC["deployment"])
def test_neither_the_object_nor_the_patch_is_changed(patch: Any) -> None:
    live = BASES["deployment"][1]
    before = copy.deepcopy((live, patch))
    with contextlib.suppress(PatchFailure):
        strategic_merge(live, patch, type_of("Deployment"))
    assert (live, patch) == before


@given(STRATEGIC["deployment"])
def test_a_patch_that_only_sets_changes_nothing_the_second_time(patch: Any) -> None:
    if "$patch" in json.dumps(patch) or "$setElementOrder" in json.dumps(patch):
        return
    try:
        once, _ = strategic_merge(BASES["deployment"][1], patch, type_of("Deployment"))
        twice, _ = strategic_merge(once, patch, type_of("Deployment"))
    except PatchFailure:
        return
    assert twice == once
