"""Definitions are changed as on kube-apiserver 1.37: never without a version, and by strategic merge although schemas hold any JSON."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from tests.server.talk import Refused, Talk, talk

from setpoint.api import GroupVersionResource
from setpoint.api.operation import STRATEGIC_MERGE_PATCH

CRDS = GroupVersionResource("apiextensions.k8s.io", "v1", "customresourcedefinitions")
PROPERTIES: dict[str, Any] = {
    "a": {"type": "integer", "default": 3},
    "b": {"type": "object", "additionalProperties": {"type": "string"}, "default": {"x": "y"}},
    "c": {"type": "object", "additionalProperties": True},
    "d": {"type": "array", "items": {"type": "string", "enum": ["x"]}},
}
DEFINITION: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.a.example"},
    "spec": {
        "group": "a.example",
        "scope": "Cluster",
        "names": {"plural": "things", "kind": "Thing"},
        "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object", "properties": PROPERTIES}}}
        ],
    },
}


def patch(t: Talk, body: Any) -> Any:
    return t.do("patch", CRDS, "things.a.example", json.dumps(body).encode(), content_type=STRATEGIC_MERGE_PATCH)


def test_a_strategic_merge_patch_goes_by_schemas_with_values_of_any_sort() -> None:
    async def main(t: Talk) -> None:
        await t.create(CRDS, DEFINITION)
        changed = await patch(t, {"metadata": {"labels": {"a": "b"}}})
        assert changed["metadata"]["labels"] == {"a": "b"}
        found = changed["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
        assert found == PROPERTIES

    talk(main)


def test_what_may_be_a_schema_or_a_boolean_is_one_of_them() -> None:
    async def main(t: Talk) -> None:
        await t.create(CRDS, DEFINITION)
        wrong = copy.deepcopy(DEFINITION["spec"])
        wrong["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["c"]["additionalProperties"] = 5
        with pytest.raises(Refused, match=r"422 .*boolean or JSON schema expected"):
            await patch(t, {"spec": wrong})

    talk(main)


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"type": "object", "additionalProperties": 5}, "400 .*boolean or JSON schema expected"),
        ({"type": "object", "additionalProperties": "x"}, "400 .*boolean or JSON schema expected"),
        ({"type": "array", "items": 5}, r"422 .*properties\[c\].items: Required value: must be specified"),
        ({"type": "array", "items": "x"}, r"422 .*properties\[c\].items: Required value: must be specified"),
    ],
)
def test_what_is_no_schema_is_refused_where_one_belongs(schema: Any, problem: str) -> None:
    async def main(t: Talk) -> None:
        wrong = copy.deepcopy(DEFINITION)
        wrong["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["c"] = schema
        with pytest.raises(Refused, match=problem):
            await t.create(CRDS, wrong)

    talk(main)


@pytest.mark.parametrize("version", [None, "0"])
def test_an_update_says_which_version_it_replaces(version: str | None) -> None:
    async def main(t: Talk) -> None:
        made = await t.create(CRDS, DEFINITION)
        del made["metadata"]["resourceVersion"]
        if version is not None:
            made["metadata"]["resourceVersion"] = version
        with pytest.raises(Refused, match=r"422 .*metadata.resourceVersion: Invalid value: 0: must be specified for an update"):
            await t.do("update", CRDS, "things.a.example", made)

    talk(main)
