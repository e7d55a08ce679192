"""JSON patches (RFC 6902), with what the real server makes of the cases that the standard leaves no room for.

There a member that is replaced need not exist, a source of `copy` that does not exist is null, and indexes may count from the end.
`kubectl apply --server-side` sends such a patch when it takes over an object that was applied without it before.

https://www.rfc-editor.org/rfc/rfc6902
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from setpoint.cluster.server.encoding import encode
from setpoint.cluster.server.metadata import go_type
from setpoint.cluster.server.schema import Json
from setpoint.cluster.server.structured.values import same

LIMIT = 10_000
"""The most operations of one patch."""
COPY_LIMIT = 3 * 1024 * 1024
"""The most bytes that the copies of one patch may add up to: a copy of a copy of a copy grows fast."""


class MalformedPatch(ValueError):
    """No JSON patch at all; the text is Go's."""


class PatchFailed(ValueError):
    """One of the operations does not fit the object, or is none; nothing is to be changed."""


def operations_of(patch: Json) -> list[Mapping[str, Json]]:
    """The operations of a decoded patch. Raises `MalformedPatch`."""
    if not isinstance(patch, list):
        raise MalformedPatch(f"json: cannot unmarshal {go_type(patch)} into Go value of type []handlers.jsonPatchOp")
    for operation in patch:
        if not isinstance(operation, dict):
            raise MalformedPatch(f"json: cannot unmarshal {go_type(operation)} into Go value of type handlers.jsonPatchOp")
    return patch


def json_patch(document: Json, operations: list[Mapping[str, Json]]) -> Json:
    """A new document: this one after all operations. Raises `PatchFailed`."""
    root: dict[str, Any] = {"": copy.deepcopy(document)}
    copied = 0
    for operation in operations:
        if operation.get("op") == "copy":
            copied += _copy(root, operation, COPY_LIMIT - copied)
        else:
            _apply(root, operation)
    return root[""]


def _copy(root: dict[str, Any], operation: Mapping[str, Json], left: int) -> int:
    """Copies, and tells how many bytes, of which there may be as many as are left."""
    source = _get(root, _path(operation, "from"))
    size = len(encode(source))
    if size > left:
        raise PatchFailed(f"the patch copies more than {COPY_LIMIT} bytes")
    _add(root, _path(operation, "path"), copy.deepcopy(source))
    return size


def _apply(root: dict[str, Any], operation: Mapping[str, Json]) -> None:
    path = _path(operation, "path")
    match operation.get("op"):
        case "add":
            _add(root, path, copy.deepcopy(operation.get("value")))
        case "remove":
            _remove(root, path)
        case "replace":
            _replace(root, path, copy.deepcopy(operation.get("value")))
        case "move":
            _add(root, path, _remove(root, _path(operation, "from")))
        case "test":
            if not same(_get(root, path), operation.get("value")):
                raise PatchFailed(f"the value at {operation.get('path')} is another one than the patch expects")
        case other:
            raise PatchFailed(f"there is no operation {other!r}")


def _path(operation: Mapping[str, Json], field: str) -> list[str]:
    """The keys from the root's holder down: the document itself is what the holder has under the empty key."""
    pointer = operation.get(field)
    if not isinstance(pointer, str) or (pointer and not pointer.startswith("/")):
        raise PatchFailed(f"{field} must be a JSON pointer, such as /spec/replicas, and not {pointer!r}")
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")]


def _holder(root: dict[str, Any], path: list[str]) -> Any:
    """What holds the last key of the path."""
    value: Any = root
    for key in path[:-1]:
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list):
            value = value[_index(key, len(value))]
        else:
            raise PatchFailed(f"there is nothing at {'/'.join(path[:-1])}")
    if not isinstance(value, dict | list):
        raise PatchFailed(f"{'/'.join(path[:-1])} is neither an object nor an array")
    return value


def _index(key: str, length: int) -> int:
    """The index that a key means in an array of that length."""
    try:
        index = int(key)
    except ValueError:
        raise PatchFailed(f"{key!r} is no index of an array") from None
    if not -length <= index < length:
        raise PatchFailed(f"the index {index} is beyond an array of {length}")
    return index % length


def _get(root: dict[str, Any], path: list[str]) -> Any:
    holder = _holder(root, path)
    return holder.get(path[-1]) if isinstance(holder, dict) else holder[_index(path[-1], len(holder))]


def _add(root: dict[str, Any], path: list[str], value: Any) -> None:
    holder, key = _holder(root, path), path[-1]
    if isinstance(holder, dict):
        holder[key] = value
    else:
        holder.insert(len(holder) if key == "-" else _index(key, len(holder) + 1), value)


def _replace(root: dict[str, Any], path: list[str], value: Any) -> None:
    holder, key = _holder(root, path), path[-1]
    holder[key if isinstance(holder, dict) else _index(key, len(holder))] = value


def _remove(root: dict[str, Any], path: list[str]) -> Any:
    holder, key = _holder(root, path), path[-1]
    if isinstance(holder, list):
        return holder.pop(_index(key, len(holder)))
    if key not in holder or len(path) == 1:
        raise PatchFailed(f"there is nothing at {'/'.join(path)}")
    return holder.pop(key)
