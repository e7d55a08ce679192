"""What only pods have: their logs, and being evicted.

https://kubernetes.io/docs/concepts/scheduling-eviction/api-eviction/
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import msgspec

from setpoint.api import Operation
from setpoint.api.operation import JSON
from setpoint.client.connection import Connection
from setpoint.objects import KindInfo, Request

POD = KindInfo(group="", version="v1", kind="Pod", singular="pod", plural="pods", list_kind="PodList", scope="Namespaced")
"""The kind, as far as these verbs need it: its class takes a while to load."""
PODS = POD.group_version_resource


def eviction(key: Request, *, uid: str = "", grace_seconds: int | None = None) -> Operation:
    """Evicts a pod; if a UID is given, only that one."""
    options: dict[str, Any] = {}
    if uid:
        options["preconditions"] = {"uid": uid}
    if grace_seconds is not None:
        options["gracePeriodSeconds"] = grace_seconds
    body: dict[str, Any] = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": key.name, "namespace": key.namespace}}
    if options:
        body["deleteOptions"] = options
    return Operation(
        verb="create",
        resource=PODS,
        namespace=key.namespace,
        name=key.name,
        subresource="eviction",
        body=msgspec.json.encode(body),
        content_type=JSON,
    )


def log(
    key: Request,
    *,
    container: str = "",
    follow: bool = False,
    previous: bool = False,
    tail: int | None = None,
    since_seconds: int | None = None,
    timestamps: bool = False,
) -> Operation:
    """Reads what a pod's container has written."""
    stated = {
        "container": container,
        "follow": "true" if follow else "",
        "previous": "true" if previous else "",
        "tailLines": "" if tail is None else str(tail),
        "sinceSeconds": "" if since_seconds is None else str(since_seconds),
        "timestamps": "true" if timestamps else "",
    }
    options = {name: value for name, value in stated.items() if value}
    return Operation(verb="get", resource=PODS, namespace=key.namespace, name=key.name, subresource="log", options=options, accept="*/*")


async def log_lines(connection: Connection, operation: Operation) -> AsyncGenerator[str, None]:
    """The lines of a log as they come, without their ends. Raises as `Connection.watch` does, and `StreamBroken`."""
    stream = await connection.watch(operation)
    try:
        while (lines := await stream.read()) is not None:
            for line in lines:
                yield line.decode(errors="replace")
    finally:
        await stream.close()
