"""Events about objects, as `kubectl describe` and `kubectl get events` show them.

https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
"""

from __future__ import annotations

from typing import Any

import msgspec

from setpoint.api import ApiError, GroupVersionResource, Operation
from setpoint.api.operation import JSON
from setpoint.objects import Object, format_time

from .said import log
from .tools import Tools

_EVENTS = GroupVersionResource("", "v1", "events")
_HEX = "0123456789abcdef"
_NOTE_LIMIT = 1024
"""The API server takes no longer ones."""


async def record_event(tools: Tools, obj: Object, reason: str, note: str, type: str) -> None:
    """Creates the Event. A server that refuses it, or is not there, is logged and that is all: an Event is never worth a failed run."""
    info = await tools.client.kind_info(obj)
    namespace = obj.namespace or "default"
    now = format_time(tools.world.clock.now())
    about: dict[str, Any] = {"apiVersion": info.api_version, "kind": info.kind, "name": obj.name}
    for field, value in (
        ("namespace", obj.namespace),
        ("uid", obj.metadata.uid),
        ("resourceVersion", obj.metadata.resource_version),
    ):
        if value:
            about[field] = value
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{obj.name}.{tools.world.chance.token(_HEX, 16)}", "namespace": namespace},
        "involvedObject": about,
        "reason": reason,
        "message": note[:_NOTE_LIMIT],
        "type": type,
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
        "source": {"component": tools.controller},
        "reportingComponent": tools.controller,
        "reportingInstance": "",
    }
    operation = Operation(verb="create", resource=_EVENTS, namespace=namespace, body=msgspec.json.encode(event), content_type=JSON)
    try:
        await tools.client.call(operation)
    except ApiError as error:
        log.warning("an event (%s: %s) was not recorded: %s", reason, note, error, extra={"controller": tools.controller})
