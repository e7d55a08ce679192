"""Every verb by `lightkube`."""

from __future__ import annotations

import pytest
from lightkube import ApiError, Client
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.core_v1 import ServicePort, ServiceSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import ConfigMap, Pod, Service
from lightkube.types import CascadeType, PatchType

OWN = {"app": "lightkube"}


def main() -> None:
    client = Client(namespace="default", field_manager="lightkube")
    made = client.create(ConfigMap(metadata=ObjectMeta(name="light", labels=OWN), data={"a": "1"}))
    assert made.metadata is not None
    assert made.metadata.uid
    print("create")

    assert [found.metadata.name for found in client.list(ConfigMap, labels={"app": ["lightkube", "other"]})] == ["light"]
    print("list")

    patched = client.patch(ConfigMap, "light", {"data": {"b": "2"}})  # strategic merge, by default
    assert patched.data == {"a": "1", "b": "2"}
    patched = client.patch(ConfigMap, "light", {"data": {"a": None}}, patch_type=PatchType.MERGE)
    assert patched.data == {"b": "2"}
    print("patch")

    seen = []
    for kind, found in client.watch(ConfigMap, labels=OWN, resource_version=made.metadata.resourceVersion, server_timeout=30):
        seen.append(kind)
        if len(seen) == 2:
            client.delete(ConfigMap, found.metadata.name)
        if kind == "DELETED":
            break
    assert seen == ["MODIFIED", "MODIFIED", "DELETED"], seen
    print("watch")
    print("delete")

    ports = [ServicePort(name="a", port=80), ServicePort(name="b", port=81)]
    service = client.apply(
        Service(apiVersion="v1", kind="Service", metadata=ObjectMeta(name="light"), spec=ServiceSpec(ports=ports, selector=OWN))
    )
    assert service.spec is not None
    assert service.spec.clusterIP
    conflicting = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "light"}, "spec": {"selector": {"app": "x"}}}
    with pytest.raises(ApiError, match='conflict with "lightkube"') as refused:
        client.patch(Service, "light", conflicting, patch_type=PatchType.APPLY, field_manager="other")
    assert refused.value.status.code == 409
    client.delete(Service, "light")
    print("apply")

    widget = create_namespaced_resource("example.com", "v1", "Widget", "widgets")
    applied = client.apply(widget(metadata=ObjectMeta(name="light"), spec={"size": 1}))
    applied["spec"]["size"] = 2
    assert client.replace(applied)["metadata"]["generation"] == 2
    status = client.patch(widget.Status, "light", {"status": {"seen": 2}}, patch_type=PatchType.MERGE)
    assert status["status"] == {"seen": 2}
    client.delete(widget, "light", cascade=CascadeType.FOREGROUND)
    print("custom resource")

    client.create(Pod.from_dict({"metadata": {"name": "light"}, "spec": {"containers": [{"name": "one", "image": "one"}]}}))
    with pytest.raises(ApiError) as unsupported:
        list(client.log("light"))
    print("logs:", unsupported.value.status.code, unsupported.value.status.message)
    client.delete(Pod, "light", grace_period=0)


main()
