"""The verbs of the Kubernetes API as operations: pure functions of a kind and what is asked of it.

https://kubernetes.io/docs/reference/using-api/api-concepts/
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from setpoint.api import LabelSelector, Operation
from setpoint.api.operation import APPLY_PATCH, JSON, JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH
from setpoint.objects import KindInfo, Request

Propagation: TypeAlias = Literal["Background", "Foreground", "Orphan"]
"""What happens to what a deleted object owned: deleted after it, deleted before it, or kept."""
PatchType: TypeAlias = Literal["merge", "json", "strategic", "apply"]
"""How a patch is to be read: JSON merge patch, JSON Patch, strategic merge patch (built-in kinds alone), or server-side apply."""
FieldValidation: TypeAlias = Literal["Ignore", "Warn", "Strict"]
"""What a server does about fields that it does not know: nothing, a warning (its own default), or a refusal."""
Labels: TypeAlias = LabelSelector | str | Mapping[str, str] | None


def get(info: KindInfo, key: Request, *, subresource: str = "") -> Operation:
    """Reads one object."""
    return Operation(verb="get", resource=info.group_version_resource, namespace=key.namespace, name=key.name, subresource=subresource)


def list_page(
    info: KindInfo,
    namespace: str = "",
    *,
    labels: Labels = None,
    fields: str = "",
    limit: int = 0,
    continue_: str = "",
    resource_version: str = "",
) -> Operation:
    """Reads one page of a collection: all namespaces where `namespace` is empty, everything where `limit` is 0."""
    options = _selecting(labels, fields)
    if limit:
        options["limit"] = str(limit)
    if continue_:
        options["continue"] = continue_
    if resource_version:
        options["resourceVersion"] = resource_version
    return Operation(verb="list", resource=info.group_version_resource, namespace=namespace, options=options)


def watch(
    info: KindInfo,
    namespace: str = "",
    *,
    labels: Labels = None,
    fields: str = "",
    resource_version: str = "",
    bookmarks: bool = True,
    initial_events: bool = False,
    timeout_seconds: int = 0,
) -> Operation:
    """Watches a collection from a version on. With `initial_events` the present state comes first (WatchList), ended by a bookmark."""
    options = _selecting(labels, fields)
    if resource_version:
        options["resourceVersion"] = resource_version
    if bookmarks:
        options["allowWatchBookmarks"] = "true"
    if initial_events:
        options["sendInitialEvents"] = "true"
        options["resourceVersionMatch"] = "NotOlderThan"
    if timeout_seconds:
        options["timeoutSeconds"] = str(timeout_seconds)
    return Operation(verb="watch", resource=info.group_version_resource, namespace=namespace, options=options)


def create(info: KindInfo, namespace: str, body: bytes, *, field_manager: str) -> Operation:
    """Creates an object; its name (or generateName) is in the body."""
    return Operation(
        verb="create",
        resource=info.group_version_resource,
        namespace=namespace,
        options={"fieldManager": field_manager},
        body=body,
        content_type=JSON,
    )


def apply(info: KindInfo, key: Request, body: bytes, *, field_manager: str, force: bool, subresource: str = "") -> Operation:
    """Server-side apply. JSON is YAML, so the body is JSON.

    https://kubernetes.io/docs/reference/using-api/server-side-apply/
    """
    options = {"fieldManager": field_manager, "force": "true" if force else "false"}
    return _patch(info, key, body, APPLY_PATCH, options, subresource)


def merge_patch(info: KindInfo, key: Request, patch: Any, *, field_manager: str, subresource: str = "") -> Operation:
    """A JSON merge patch: null removes, objects merge, all else replaces."""
    return _patch(info, key, msgspec.json.encode(patch), MERGE_PATCH, {"fieldManager": field_manager}, subresource)


def json_patch(info: KindInfo, key: Request, patch: Any, *, field_manager: str, subresource: str = "") -> Operation:
    """A JSON Patch: a list of operations, the only patch that can set null."""
    return _patch(info, key, msgspec.json.encode(patch), JSON_PATCH, {"fieldManager": field_manager}, subresource)


def strategic_patch(info: KindInfo, key: Request, patch: Any, *, field_manager: str, subresource: str = "") -> Operation:
    """A strategic merge patch: lists merge by their items' keys. Custom resources take none."""
    return _patch(info, key, msgspec.json.encode(patch), STRATEGIC_MERGE_PATCH, {"fieldManager": field_manager}, subresource)


def delete_collection(
    info: KindInfo,
    namespace: str = "",
    *,
    labels: Labels = None,
    fields: str = "",
    propagation: Propagation = "Background",
    grace_seconds: int | None = None,
) -> Operation:
    """Deletes all objects of a collection that are selected."""
    options: dict[str, Any] = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": propagation}
    if grace_seconds is not None:
        options["gracePeriodSeconds"] = grace_seconds
    return Operation(
        verb="deletecollection",
        resource=info.group_version_resource,
        namespace=namespace,
        options=_selecting(labels, fields),
        body=msgspec.json.encode(options),
        content_type=JSON,
    )


def on_trial(operation: Operation) -> Operation:
    """A write that is tried only: the server answers as if it had been done, and keeps nothing.

    https://kubernetes.io/docs/reference/using-api/api-concepts/#dry-run
    """
    body = operation.body
    if operation.verb in ("delete", "deletecollection"):
        # Where a delete has a body, the server looks for its options nowhere else.
        body = msgspec.json.encode({**msgspec.json.decode(body or b"{}"), "dryRun": ["All"]})
    return msgspec.structs.replace(operation, options={**operation.options, "dryRun": "All"}, body=body)


def delete(
    info: KindInfo,
    key: Request,
    *,
    uid: str = "",
    resource_version: str = "",
    propagation: Propagation = "Background",
    grace_seconds: int | None = None,
) -> Operation:
    """Deletes one object; if a UID or version is given, only that one. Without `grace_seconds`, its kind says how long it may take."""
    options: dict[str, Any] = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": propagation}
    preconditions = {name: value for name, value in (("uid", uid), ("resourceVersion", resource_version)) if value}
    if preconditions:
        options["preconditions"] = preconditions
    if grace_seconds is not None:
        options["gracePeriodSeconds"] = grace_seconds
    return Operation(
        verb="delete",
        resource=info.group_version_resource,
        namespace=key.namespace,
        name=key.name,
        body=msgspec.json.encode(options),
        content_type=JSON,
    )


def _patch(info: KindInfo, key: Request, body: bytes, content_type: str, options: dict[str, str], subresource: str) -> Operation:
    return Operation(
        verb="patch",
        resource=info.group_version_resource,
        namespace=key.namespace,
        name=key.name,
        subresource=subresource,
        options=options,
        body=body,
        content_type=content_type,
    )


def _selecting(labels: Labels, fields: str) -> dict[str, str]:
    options = {}
    if selector := selector_text(labels):
        options["labelSelector"] = selector
    if fields:
        options["fieldSelector"] = fields
    return options


def selector_text(labels: Labels) -> str:
    """A label selector as its text, whatever it was given as; a mapping means equality of each."""
    if labels is None or isinstance(labels, str):
        return labels or ""
    if isinstance(labels, LabelSelector):
        return str(labels)
    return ",".join(f"{key}={value}" for key, value in labels.items())
