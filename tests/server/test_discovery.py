"""Discovery, as clients without the aggregated form read it."""

import asyncio
import json

from tests.server.talk import CRDS, Talk

from setpoint.api import Operation
from setpoint.cluster.server import ApiServer
from setpoint.cluster.server.about.discovery import preference
from setpoint.world import simulate


def read(talk_or_server, path):
    server = getattr(talk_or_server, "server", talk_or_server)

    async def go():
        answer = await server.handle(Operation(verb="get", path=path))
        return answer.status, json.loads(answer.body) if answer.status == 200 else None

    return go()


def document(path):
    async def main(world):
        return await read(ApiServer(world), path)

    status, body = simulate(main)
    assert status == 200
    return body


def crd(group="example.com", plural="widgets", versions=("v1",), storage="v1", **names):
    kind = plural[:-1].capitalize()
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List", **names},
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": version == storage,
                    "schema": schema,
                    "subresources": {
                        "status": {},
                        "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
                    },
                }
                for version in versions
            ],
        },
    }


def test_the_core_group_has_its_version_apart():
    assert document("/api")["versions"] == ["v1"]
    assert document("/api")["kind"] == "APIVersions"


def test_groups_are_listed_with_the_version_that_is_preferred():
    groups = {group["name"]: group for group in document("/apis")["groups"]}
    assert list(groups) == [
        *("apps", "events.k8s.io", "autoscaling", "batch", "certificates.k8s.io", "networking.k8s.io", "policy"),
        *("rbac.authorization.k8s.io", "storage.k8s.io", "apiextensions.k8s.io", "scheduling.k8s.io", "coordination.k8s.io"),
        *("node.k8s.io", "discovery.k8s.io", "resource.k8s.io", "flowcontrol.apiserver.k8s.io", "storagemigration.k8s.io"),
    ]
    assert groups["autoscaling"]["preferredVersion"]["version"] == "v2"
    assert groups["apps"]["preferredVersion"] == {"groupVersion": "apps/v1", "version": "v1"}
    assert document("/apis/apps") == {"kind": "APIGroup", "apiVersion": "v1", **groups["apps"]}


def test_a_resource_says_what_can_be_done_with_it():
    entries = {entry["name"]: entry for entry in document("/api/v1")["resources"]}
    assert entries["configmaps"] == {
        "name": "configmaps",
        "singularName": "configmap",
        "namespaced": True,
        "kind": "ConfigMap",
        "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        "shortNames": ["cm"],
        "storageVersionHash": "qFsyl6wFWjQ=",
    }
    assert entries["namespaces"]["namespaced"] is False
    assert "deletecollection" not in entries["namespaces"]["verbs"]
    assert entries["namespaces/finalize"]["verbs"] == ["update"]


def test_a_scale_is_of_another_kind_than_its_resource():
    entries = {entry["name"]: entry for entry in document("/apis/apps/v1")["resources"]}
    assert entries["deployments/scale"] == {
        "name": "deployments/scale",
        "singularName": "",
        "namespaced": True,
        "group": "autoscaling",
        "version": "v1",
        "kind": "Scale",
        "verbs": ["get", "patch", "update"],
    }
    assert "group" not in entries["deployments/status"]


def test_what_is_not_served_is_not_found():
    async def main(world):
        server = ApiServer(world)
        for path in ("/apis/nope", "/apis/apps/v9", "/api/v2", "/apis/"):
            status, _ = await read(server, path)
            assert status == (200 if path == "/apis/" else 404), path

    simulate(main)


def test_a_custom_kind_is_there_from_the_write_that_defines_it_to_the_one_that_removes_it():
    async def main(world):
        talk = Talk(world)
        assert (await read(talk, "/apis/example.com"))[0] == 404
        await talk.do("create", CRDS, body=crd(shortNames=["wd"], categories=["all"]))
        status, found = await read(talk, "/apis/example.com/v1")
        assert status == 200
        assert [entry["name"] for entry in found["resources"]] == ["widgets", "widgets/status", "widgets/scale"]
        assert found["resources"][0]["shortNames"] == ["wd"]
        assert found["resources"][0]["categories"] == ["all"]
        assert found["resources"][0]["verbs"] == ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"]
        assert found["resources"][2]["group"] == "autoscaling"
        await talk.do("delete", CRDS, "widgets.example.com")
        await asyncio.sleep(1)
        assert (await read(talk, "/apis/example.com"))[0] == 404

    simulate(main)


def test_versions_come_in_the_order_in_which_they_are_preferred():
    async def main(world):
        talk = Talk(world)
        await talk.do("create", CRDS, body=crd(versions=("v1alpha1", "v1", "v2beta1", "v10")))
        _, group = await read(talk, "/apis/example.com")
        assert [version["version"] for version in group["versions"]] == ["v10", "v1", "v2beta1", "v1alpha1"]
        assert group["preferredVersion"]["version"] == "v10"

    simulate(main)


def test_versions_are_sorted_as_kubernetes_documents_it():
    preferred = ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10"]
    assert sorted(sorted(preferred), key=preference) == preferred
