"""What a write has changed, as the records tell it."""

from __future__ import annotations

from setpoint.api import Operation
from setpoint.api.operation import APPLY_PATCH, MERGE_PATCH
from setpoint.manager.flight.changed_paths import changed_paths, stated_paths
from setpoint.manager.flight.heads import head_of
from setpoint.manager.flight.in_progress import KEPT
from setpoint.manager.flight.records import Write, bounded
from setpoint.objects import Request
from setpoint.objects.head import Head

_PAST = {"create": "created", "update": "updated", "patch": "patched", "delete": "deleted", "deletecollection": "deleted"}


def write_of(operation: Operation, code: str, kind: str, before: bytes | None, after: bytes | None, head: Head | None) -> Write:
    """The record of a write of an object that was `before`, as far as known, and is `after`, with this `head`; `code` was the answer."""
    place = place_of(operation) or ("" if head is None else str(head.key))
    write = Write(_done(operation, code), kind, bounded(place), operation.subresource)
    if after is None:
        write.code, write.changed = code, not code.isdigit()
    elif head is not None and operation.verb not in ("create", "delete", "deletecollection") and code != "201":
        _compare(write, operation, before, after, head)
    elif head is not None:
        write.version = head.resource_version
    return write


def place_of(operation: Operation) -> str:
    """Namespace and name of what an operation is about; "" where it names none."""
    return str(Request(operation.namespace, operation.name)) if operation.name else ""


def _done(operation: Operation, code: str) -> str:
    if code == "201":
        return "created"
    return "applied" if operation.content_type == APPLY_PATCH else _PAST[operation.verb]


def _compare(write: Write, operation: Operation, before: bytes | None, after: bytes, head: Head) -> None:
    write.version = head.resource_version
    was = head_of(before)
    if was is not None and was.uid == head.uid and operation.subresource != "scale":  # whose answer is a Scale, in the object's name
        write.changed = was.resource_version != head.resource_version
        paths = changed_paths(before or b"{}", after) if write.changed else []
    else:
        write.stated = True
        paths = stated_paths(operation.body) if operation.content_type in (MERGE_PATCH, APPLY_PATCH) else []
    write.paths, write.more = [bounded(path) for path in paths[:KEPT]], max(0, len(paths) - KEPT)
