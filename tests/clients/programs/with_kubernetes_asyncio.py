"""Every verb by `kubernetes_asyncio`."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from kubernetes_asyncio import client, config, dynamic, watch
from kubernetes_asyncio.client.exceptions import ApiException

NAMESPACE = "default"
OWN = {"app": "asyncio"}


async def main() -> None:
    await config.load_kube_config()
    async with client.ApiClient() as api:
        core, custom = client.CoreV1Api(api), client.CustomObjectsApi(api)
        made = await core.create_namespaced_secret(
            NAMESPACE, client.V1Secret(metadata=client.V1ObjectMeta(name="aio", labels=OWN), string_data={"a": "1"})
        )
        assert made.data == {"a": "MQ=="}, made.data
        print("create")

        listed = await core.list_secret_for_all_namespaces(label_selector="app=asyncio")
        assert [item.metadata.name for item in listed.items] == ["aio"]
        print("list")

        async with watch.Watch() as stream:
            seen = []
            async for event in stream.stream(core.list_namespaced_secret, NAMESPACE, label_selector="app=asyncio", timeout_seconds=30):
                seen.append(event["type"])
                if event["type"] == "ADDED":
                    patched = await core.patch_namespaced_secret("aio", NAMESPACE, {"stringData": {"b": "2"}})
                    assert sorted(patched.data) == ["a", "b"]
                elif event["type"] == "MODIFIED":
                    await core.delete_namespaced_secret("aio", NAMESPACE)
                else:
                    break
            assert seen == ["ADDED", "MODIFIED", "DELETED"], seen
        print("watch")
        print("patch")
        print("delete")

        untyped = await dynamic.DynamicClient(api)
        widgets = await untyped.resources.get(api_version="example.com/v1", kind="Widget")
        body = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "aio", "namespace": NAMESPACE}, "spec": {"size": 1}}
        applied = await widgets.server_side_apply(body=body, name="aio", namespace=NAMESPACE, field_manager="aio")
        assert applied.metadata.managedFields[0].manager == "aio"
        await widgets.delete(name="aio", namespace=NAMESPACE)
        print("apply")

        where: dict[str, Any] = {"group": "example.com", "version": "v1", "namespace": NAMESPACE, "plural": "widgets"}
        with pytest.raises(ApiException) as refused:
            await custom.get_namespaced_custom_object(name="aio", **where)
        assert refused.value.status == 404
        print("custom resource")

        pod = {"metadata": {"name": "aio"}, "spec": {"containers": [{"name": "one", "image": "one"}]}}
        await core.create_namespaced_pod(NAMESPACE, pod)
        with pytest.raises(ApiException) as refused:
            await core.read_namespaced_pod_log("aio", NAMESPACE)
        print("logs:", refused.value.status, refused.value.body)
        await core.delete_namespaced_pod("aio", NAMESPACE, grace_period_seconds=0)


asyncio.run(main())
