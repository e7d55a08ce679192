"""What a field selector sees of an object: the text that an API server compares, by kind and path.

For most fields that is the value at the path, and nothing where it is absent. A server decodes built-in kinds into structs first, though,
so that an absent number is "0" to it and an absent boolean "false"; and a few fields are called otherwise than they are kept.

https://kubernetes.io/docs/concepts/overview/working-with-objects/field-selectors/
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_ABSENT: dict[tuple[str, str, str], str] = {
    ("", "Node", "spec.unschedulable"): "false",
    ("", "Pod", "spec.hostNetwork"): "false",
    ("", "ReplicationController", "status.replicas"): "0",
    ("batch", "Job", "status.successful"): "0",
}
_KEPT_AT: dict[tuple[str, str, str], tuple[str, ...]] = {
    ("", "Event", "source"): ("source.component", "reportingComponent"),
    ("", "Pod", "spec.host"): ("spec.nodeName",),
    ("", "Pod", "status.podIPs"): (),
    ("batch", "Job", "status.successful"): ("status.succeeded",),
}
"""Where the value is found: at the first of these paths that has one."""


def field_text(content: Mapping[str, Any], path: str) -> str:
    """The text of a field of an object, which says its own `apiVersion` and `kind`."""
    field = str(content.get("apiVersion", "")).rpartition("/")[0], str(content.get("kind", "")), path
    for place in _KEPT_AT.get(field, (path,)):
        if text := _text(content, place):
            return text
    return _ABSENT.get(field, "")


def _text(content: Any, path: str) -> str:
    for step in path.split("."):
        content = content.get(step) if isinstance(content, Mapping) else None
    if content is None:
        return ""
    return str(content).lower() if isinstance(content, bool) else str(content)
