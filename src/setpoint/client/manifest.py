"""What is sent of an object: never its status where that is a subresource, never what only the server may say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from setpoint.objects import KindInfo, Object, Request, Untyped, to_builtins

_SERVERS: tuple[str, ...] = (
    "selfLink",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
)
_OF_WHAT_WAS_READ = (*_SERVERS, "uid", "resourceVersion")


class Apply(msgspec.Struct, frozen=True, kw_only=True):
    """A server-side apply, ready to be sent. Two of them with equal `key` and `body` state the same."""

    info: KindInfo
    key: Request
    body: bytes
    force: bool = True
    subresource: str = ""


def content_of(obj: Object | Mapping[str, Any], info: KindInfo, *, subresource: str = "") -> dict[str, Any]:
    """The object as JSON to be sent; a mapping is taken as it is stated, so that a manifest may name a uid or version as precondition."""
    stated: Mapping[str, Any]
    if isinstance(obj, Untyped):
        stated, dropped = obj.content, _SERVERS
    elif isinstance(obj, Object):
        stated, dropped = to_builtins(obj), _OF_WHAT_WAS_READ
    else:
        stated, dropped = obj, _SERVERS
    metadata = stated.get("metadata") or {}
    if not isinstance(metadata, Mapping):
        raise ValueError(f"the metadata of this {info.kind} is no mapping: {metadata!r}")
    content: dict[str, Any] = {"apiVersion": info.api_version, "kind": info.kind}
    if subresource not in ("", "status"):
        return {**content, **stated}
    if subresource:
        content["metadata"] = {name: metadata[name] for name in ("name", "namespace") if name in metadata}
        if "status" in stated:
            content["status"] = stated["status"]
        return content
    content["metadata"] = {name: value for name, value in metadata.items() if name not in dropped}
    content.update(
        (name, value)
        for name, value in stated.items()
        if name not in ("apiVersion", "kind", "metadata") and not (name == "status" and info.has_status)
    )
    return content


def key_of(metadata: Mapping[str, Any], info: KindInfo, *, namespace: str) -> Request:
    """Where an object of a kind is, `namespace` being where it is if it does not say. The name may be empty."""
    if not info.namespaced:
        return Request("", metadata.get("name") or "")
    where = metadata.get("namespace") or namespace
    if not where:
        called = metadata.get("name") or metadata.get("generateName") or ""
        raise ValueError(f"{info.kind} {called!r} names no namespace: set metadata.namespace")
    return Request(where, metadata.get("name") or "")
