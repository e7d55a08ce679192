"""JSON patches (RFC 6902), with what the real server makes of the cases that the standard leaves no room for.

There a member that is replaced need not exist, a source of `copy` that does not exist is null, what a pointer has before its first slash
is overlooked, and indexes may count from the end. The whole document may be replaced and tested, and nothing else. A `test` compares
scalars by how they are written: 1.0 is not 1, and `"<"` is not the `"\\u003c"` that the server writes.

`kubectl apply --server-side` sends such a patch when it takes over an object that was applied without it before.

https://www.rfc-editor.org/rfc/rfc6902
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from setpoint.cluster.server.encoding import encode
from setpoint.cluster.server.metadata import go_type
from setpoint.cluster.server.schema import Json
from setpoint.cluster.server.schema.gotext import as_json

LIMIT = 10_000
"""The most operations of one patch."""
COPY_LIMIT = 3 * 1024 * 1024
"""The most bytes that the copies of one patch may add up to: a copy of a copy of a copy grows fast."""

Operation = Mapping[str, Json]
_TEXTS = ("op", "path", "from")
_INDEX = re.compile(r"[+-]?[0-9]+", re.ASCII)
_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_elements = msgspec.json.Decoder(list[msgspec.Raw]).decode
_operations = msgspec.json.Decoder(list[dict[str, msgspec.Raw]]).decode


class MalformedPatch(ValueError):
    """No JSON patch at all; the text is Go's."""


class PatchFailed(ValueError):
    """One of the operations does not fit the object, or is none; nothing is to be changed."""


@dataclass(frozen=True, slots=True)
class Written:
    """A value to test against, as it was written."""

    text: bytes


def operations_of(patch: Json, body: bytes = b"", *, typed: bool = True) -> list[Operation]:
    """The operations of a decoded patch. Raises `MalformedPatch`.

    `body` is what was decoded: with it, a `test` compares by what is written there. `typed` asks of each operation that its texts are
    texts; the real server does not, where it does not look for unknown fields either.
    """
    if patch is None:
        return []
    array, struct = ("[]handlers.jsonPatchOp", "handlers.jsonPatchOp") if typed else ("jsonpatch.Patch", "jsonpatch.Operation")
    if not isinstance(patch, list):
        raise MalformedPatch(f"json: cannot unmarshal {go_type(patch)} into Go value of type {array}")
    for operation in patch:
        if operation is None:
            continue
        if not isinstance(operation, dict):
            raise MalformedPatch(f"json: cannot unmarshal {go_type(operation)} into Go value of type {struct}")
        for field in _TEXTS if typed else ():
            if not isinstance(operation.get(field, ""), str | None):
                found = go_type(operation[field])
                raise MalformedPatch(f"json: cannot unmarshal {found} into Go struct field jsonPatchOp.{field} of type string")
    operations = [operation or {} for operation in patch]
    return _as_written(operations, body) if any(operation.get("op") == "test" for operation in operations) else operations


def _as_written(operations: list[dict[str, Json]], body: bytes) -> list[Operation]:
    try:
        raw = _operations(body)
    except msgspec.DecodeError:
        # Not given, or with text that is no Unicode: the values themselves are compared then.
        return list(operations)
    return [
        {**operation, "value": Written(bytes(text["value"]))}
        if operation.get("op") == "test" and operation.get("value") is not None
        else operation
        for operation, text in zip(operations, raw, strict=True)
    ]


def unknown_fields(operations: list[Json]) -> Iterator[str]:
    """What the operations hold besides their own fields, as paths."""
    for position, operation in enumerate(operations):
        for field in operation if isinstance(operation, dict) else ():
            if field not in (*_TEXTS, "value"):
                yield f"[{position}].{field}"


def json_patch(document: Json, operations: list[Operation]) -> Json:
    """A new document: this one after all operations. Raises `PatchFailed`."""
    root: dict[str, Any] = {"": copy.deepcopy(document)}
    copied = 0
    for operation in operations:
        if operation.get("op") == "copy":
            copied += _copy(root, operation, COPY_LIMIT - copied)
        else:
            _apply(root, operation)
    return root[""]


def _copy(root: dict[str, Any], operation: Operation, left: int) -> int:
    """Copies, and tells how many bytes, of which there may be as many as are left."""
    source = _get(root, _path(operation, "from"))
    size = len(encode(source))
    if size > left:
        raise PatchFailed(f"the patch copies more than {COPY_LIMIT} bytes")
    _add(root, _path(operation, "path"), copy.deepcopy(source))
    return size


def _apply(root: dict[str, Any], operation: Operation) -> None:
    path = _path(operation, "path")
    match operation.get("op"):
        case "add":
            _add(root, path, copy.deepcopy(operation.get("value")))
        case "remove":
            _remove(root, path)
        case "replace" if operation.get("path") == "":
            if not isinstance(whole := operation.get("value"), dict | list):
                raise PatchFailed("a document is an object or an array")
            root[""] = copy.deepcopy(whole)
        case "replace":
            _replace(root, path, copy.deepcopy(operation.get("value")))
        case "move":
            _add(root, path, _remove(root, _path(operation, "from")))
        case "test":
            found = root[""] if operation.get("path") == "" else _get(root, path)
            if not _equal(found, operation.get("value")):
                raise PatchFailed(f"the value at {operation.get('path')} is another one than the patch expects")
        case other:
            raise PatchFailed(f"there is no operation {other!r}")


def _path(operation: Operation, field: str) -> list[str]:
    """The keys from the root's holder down: the document itself is what the holder has under the empty key."""
    pointer = operation.get(field)
    if not isinstance(pointer, str):
        raise PatchFailed(f"{field} must be a JSON pointer, such as /spec/replicas, and not {pointer!r}")
    return ["", *(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])]


def _equal(found: Json, wanted: Json) -> bool:
    """Whether a value is the one that a test wants: for scalars, whether it is written in the same way."""
    if isinstance(wanted, Written):
        text = wanted.text.strip()
        if text.startswith(b"{"):
            wanted = {key: Written(bytes(raw)) for key, raw in _members(text).items()}
        elif text.startswith(b"["):
            wanted = [Written(bytes(raw)) for raw in _elements(text)]
        else:
            return not isinstance(found, dict | list) and as_json(found).encode() == text
    if isinstance(wanted, dict):
        return isinstance(found, dict) and found.keys() == wanted.keys() and all(_equal(found[key], wanted[key]) for key in wanted)
    if isinstance(wanted, list):
        return isinstance(found, list) and len(found) == len(wanted) and all(map(_equal, found, wanted))
    return type(found) is type(wanted) and found == wanted


def _holder(root: dict[str, Any], path: list[str]) -> Any:
    """What holds the last key of the path. Raises PatchFailed; the document itself is held by nothing that an operation may change."""
    if len(path) == 1:
        raise PatchFailed("the path is empty")
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
    if _INDEX.fullmatch(key) is None:
        raise PatchFailed(f"{key!r} is no index of an array")
    index = int(key)
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
    if key not in holder:
        raise PatchFailed(f"there is nothing at {'/'.join(path)}")
    return holder.pop(key)
