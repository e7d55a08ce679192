"""Every verb by `kr8s`."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import kr8s
import kr8s.asyncio
import pytest
from kr8s.objects import ConfigMap, Deployment, Pod, new_class

NAMESPACE = "default"
OWN = {"app": "kr8s"}


def main() -> None:
    api = kr8s.api()
    assert api.version()["major"] == "1"
    print("version")

    settings = ConfigMap({"metadata": {"name": "kr8s", "namespace": NAMESPACE, "labels": OWN}, "data": {"a": "1"}}, api=api)
    settings.create()
    assert settings.exists()
    print("create")

    assert [found.name for found in api.get("configmaps", namespace=NAMESPACE, label_selector=OWN)] == ["kr8s"]
    assert [found.name for found in api.get("cm", "kr8s", namespace=NAMESPACE)] == ["kr8s"]
    print("list")

    settings.patch({"data": {"b": "2"}})
    assert settings.raw["data"] == {"a": "1", "b": "2"}
    settings.label({"more": "yes"})
    assert settings.labels["more"] == "yes"
    print("patch")

    seen = []
    for kind, found in api.watch("configmaps", namespace=NAMESPACE, label_selector=OWN):
        seen.append(kind)
        if kind == "ADDED":
            found.patch({"data": {"c": "3"}})
        elif kind == "MODIFIED":
            found.delete()
        else:
            break
    assert seen == ["ADDED", "MODIFIED", "DELETED"], seen
    print("watch")
    print("delete")

    widget = new_class("Widget", version="example.com/v1", namespaced=True)
    body = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "kr8s", "namespace": NAMESPACE}, "spec": {"size": 1}}
    applied = asyncio.run(_apply(body))
    assert applied["metadata"]["managedFields"][0]["manager"] == "kr8s"
    print("apply")
    (found,) = api.get(widget, namespace=NAMESPACE)
    assert found.raw["spec"]["size"] == 1
    found.delete()
    print("custom resource")

    template = {"metadata": {"labels": OWN}, "spec": {"containers": [{"name": "one", "image": "one"}]}}
    deployment = Deployment(
        {
            "metadata": {"name": "kr8s", "namespace": NAMESPACE},
            "spec": {"replicas": 1, "selector": {"matchLabels": OWN}, "template": template},
        },
        api=api,
    )
    deployment.create()
    deployment.scale(2)
    deployment.wait("condition=Available", timeout=30)
    (pod, *_) = deployment.pods()
    assert isinstance(pod, Pod)
    print("built-in workload")
    with pytest.raises(kr8s.ServerError) as refused:
        list(pod.logs())
    print("logs:", refused.value.response.status_code, refused.value.response.text)
    deployment.delete()


async def _apply(body: dict[str, Any]) -> dict[str, Any]:
    """Server-side apply, for which there is no word of its own."""
    api = await kr8s.asyncio.api()
    async with api.call_api(
        "PATCH",
        version="example.com/v1",
        url=f"widgets/{body['metadata']['name']}",
        namespace=NAMESPACE,
        params={"fieldManager": "kr8s"},
        content=json.dumps(body),
        headers={"Content-Type": "application/apply-patch+yaml"},
    ) as response:
        answer: dict[str, Any] = response.json()
        return answer


main()
