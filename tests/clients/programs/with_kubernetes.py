"""Every verb by the official client, `kubernetes`: typed, untyped (`dynamic`), and a watch that goes on from a list."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from kubernetes import client, config, dynamic, watch
from kubernetes.client.exceptions import ApiException

NAMESPACE = "default"
OWN = {"app": "official"}


def main() -> None:
    with contextlib.closing(config.new_client_from_config()) as api:
        core, apps, custom = client.CoreV1Api(api), client.AppsV1Api(api), client.CustomObjectsApi(api)
        version = client.VersionApi(api).get_code()
        assert version.major == "1", version
        print("version")

        made = core.create_namespaced_config_map(
            NAMESPACE, client.V1ConfigMap(metadata=client.V1ObjectMeta(name="official", labels=OWN), data={"a": "1"})
        )
        assert made.metadata.uid
        with pytest.raises(ApiException) as refused:
            core.create_namespaced_config_map(NAMESPACE, client.V1ConfigMap(metadata=client.V1ObjectMeta(name="official")))
        assert (refused.value.status, "AlreadyExists" in str(refused.value.body)) == (409, True)
        print("create")

        listed = core.list_namespaced_config_map(NAMESPACE, label_selector="app=official", limit=1)
        assert [item.metadata.name for item in listed.items] == ["official"]
        print("list")

        patched = core.patch_namespaced_config_map("official", NAMESPACE, {"data": {"b": "2"}})  # strategic merge, by default
        assert patched.data == {"a": "1", "b": "2"}, patched.data
        patched = core.patch_namespaced_config_map("official", NAMESPACE, [{"op": "remove", "path": "/data/a"}])
        assert patched.data == {"b": "2"}, patched.data
        print("patch")

        deployment = apps.create_namespaced_deployment(NAMESPACE, _deployment("official"))
        apps.patch_namespaced_deployment(
            "official", NAMESPACE, {"spec": {"template": {"spec": {"containers": [{"name": "two", "image": "two"}]}}}}
        )
        names = [c.name for c in apps.read_namespaced_deployment("official", NAMESPACE).spec.template.spec.containers]
        assert sorted(names) == ["one", "two"], names  # merged by name, not replaced
        scale = apps.patch_namespaced_deployment_scale("official", NAMESPACE, {"spec": {"replicas": 3}})
        assert scale.spec.replicas == 3
        assert deployment.metadata.generation == 1
        print("built-in workload")

        seen = []
        stream = watch.Watch()
        for event in stream.stream(
            core.list_namespaced_config_map, NAMESPACE, label_selector="app=official", resource_version=made.metadata.resource_version,
            timeout_seconds=30,
        ):  # fmt: skip
            seen.append(event["type"])
            if len(seen) == 2:
                core.delete_namespaced_config_map("official", NAMESPACE)
            if seen[-1] == "DELETED":
                break
        assert seen == ["MODIFIED", "MODIFIED", "DELETED"], seen
        print("watch")
        print("delete")

        untyped = dynamic.DynamicClient(api)
        maps = untyped.resources.get(api_version="v1", kind="ConfigMap")
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied", "namespace": NAMESPACE}, "data": {"x": "1"}}
        maps.server_side_apply(body=body, name="applied", namespace=NAMESPACE, field_manager="one")
        with pytest.raises(ApiException) as refused:
            maps.server_side_apply(body={**body, "data": {"x": "2"}}, name="applied", namespace=NAMESPACE, field_manager="two")
        assert (refused.value.status, "conflict with" in str(refused.value.body)) == (409, True)
        forced = maps.server_side_apply(
            body={**body, "data": {"x": "2"}}, name="applied", namespace=NAMESPACE, field_manager="two", force_conflicts=True
        )
        assert forced.data["x"] == "2"
        maps.delete(name="applied", namespace=NAMESPACE)
        print("apply")

        _custom(custom)
        print("custom resource")

        core.create_namespaced_pod(NAMESPACE, _pod("official"))
        with pytest.raises(ApiException) as refused:
            core.read_namespaced_pod_log("official", NAMESPACE)
        print("logs:", refused.value.status, str(refused.value.body))
        core.delete_namespaced_pod("official", NAMESPACE, grace_period_seconds=0)
        apps.delete_namespaced_deployment("official", NAMESPACE, propagation_policy="Foreground")


def _custom(custom: client.CustomObjectsApi) -> None:
    where: dict[str, Any] = {"group": "example.com", "version": "v1", "namespace": NAMESPACE, "plural": "widgets"}
    body = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "official"}, "spec": {"size": 1}}
    assert custom.create_namespaced_custom_object(body=body, **where)["metadata"]["generation"] == 1
    changed = custom.patch_namespaced_custom_object(name="official", body={"spec": {"size": 2}}, **where)
    assert (changed["spec"]["size"], changed["metadata"]["generation"]) == (2, 2)
    status = custom.patch_namespaced_custom_object_status(name="official", body={"status": {"seen": 2}}, **where)
    assert status["status"] == {"seen": 2}
    with pytest.raises(ApiException) as refused:
        custom.patch_namespaced_custom_object(name="official", body={"spec": {"size": "x"}}, **where)
    assert refused.value.status == 422
    assert len(custom.list_namespaced_custom_object(**where)["items"]) == 1
    custom.delete_namespaced_custom_object(name="official", **where)


def _pod(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": OWN}, "spec": {"containers": [{"name": "one", "image": "one"}]}}


def _deployment(name: str) -> dict[str, Any]:
    template = {"metadata": {"labels": OWN}, "spec": {"containers": [{"name": "one", "image": "one"}]}}
    return {"metadata": {"name": name}, "spec": {"selector": {"matchLabels": OWN}, "template": template}}


main()
