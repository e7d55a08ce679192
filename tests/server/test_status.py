"""Writing the status: what else of an object that may change."""

from __future__ import annotations

from typing import Any

import pytest
from tests.server.talk import NAMESPACES, PODS, WIDGETS, Talk, talk, widget

from setpoint.api import GroupVersionResource

SERVICES = GroupVersionResource("", "v1", "services")
DEPLOYMENTS = GroupVersionResource("apps", "v1", "deployments")

METADATA: dict[str, Any] = {
    "labels": {"new": "1"},
    "annotations": {"c": "d"},
    "finalizers": ["x.io/y"],
    "ownerReferences": [{"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u"}],
}
_POD = {"containers": [{"name": "c", "image": "i"}]}
_TEMPLATE = {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": _POD}}


@pytest.mark.parametrize(
    ("resource", "spec", "kept"),
    [(DEPLOYMENTS, _TEMPLATE, "labels"), (PODS, _POD, "ownerReferences"), (SERVICES, {"ports": [{"port": 80}]}, ""), (NAMESPACES, {}, "")],
)
def test_of_built_in_kinds_metadata_changes_with_the_status(resource: GroupVersionResource, spec: dict[str, Any], kept: str) -> None:
    async def main(t: Talk) -> None:
        where = "x" if resource is NAMESPACES else "default/x"
        made = await t.do("create", resource, where.rpartition("x")[0], {"metadata": {"name": "x"}, "spec": spec})
        changed = await t.merge(resource, where, {"metadata": METADATA, "spec": {"replicas": 7}}, sub="status")
        assert changed["spec"] == made["spec"]
        for field, value in METADATA.items():
            if field == kept:
                assert changed["metadata"].get(field) == made["metadata"].get(field)
            elif field == "labels":
                assert changed["metadata"]["labels"] == {**made["metadata"].get("labels", {}), **value}
            else:
                assert changed["metadata"][field] == value
        entry = next(entry for entry in changed["metadata"]["managedFields"] if entry.get("subresource") == "status")
        assert sorted(entry["fieldsV1"]["f:metadata"]) == sorted(f"f:{field}" for field in METADATA if field != kept)

    talk(main)


def test_of_custom_kinds_nothing_but_the_status_changes() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        made = await t.create(WIDGETS, widget("w"))
        changed = await t.merge(WIDGETS, "default/w", {"metadata": METADATA, "spec": {"image": "z"}}, sub="status")
        assert changed == made
        changed = await t.merge(WIDGETS, "default/w", {"metadata": METADATA, "status": {"replicas": 1}}, sub="status")
        assert changed["status"] == {"replicas": 1}
        assert {**changed["metadata"], "managedFields": 0, "resourceVersion": ""} == {
            **made["metadata"],
            "managedFields": 0,
            "resourceVersion": "",
        }

    talk(main)
