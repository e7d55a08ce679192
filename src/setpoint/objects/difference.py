"""The difference of two objects: what to send so that nothing else is touched.

A class may not know every field that the server has. So the object is not compared with the server's JSON (the *base*), but with
what the same class reads from it; and what differs is laid over the base's own JSON. A field that the class does not know is never
named. Inside lists, which a merge patch replaces as a whole, each item continues an item of the base and keeps what the class does
not know of it.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

import msgspec

from .codec import decode, encode
from .kind_info import kind_of
from .metadata import Object
from .pairing import pairs, same
from .shape import Shape, attributes_of
from .untyped import Untyped

ObjectT = TypeVar("ObjectT", bound=Object)
Part: TypeAlias = Literal["main", "status", "all"]
"""What a request writes: everything but a status that is a subresource; only that status; or all there is."""


class Difference(msgspec.Struct, frozen=True):
    """What to change: as a merge patch (RFC 7386) if that can say it; else, when null is to be *set*, as a JSON patch (RFC 6902)."""

    merge: dict[str, Any] | None = None
    json_patch: list[dict[str, Any]] | None = None

    def at(self, resource_version: str) -> dict[str, Any] | list[dict[str, Any]]:
        """The body of the request, a dictionary for a merge patch, a list for a JSON patch.

        The server answers Conflict unless the object is still at this version.
        """
        if self.json_patch is not None:
            return [*self.json_patch, {"op": "replace", "path": "/metadata/resourceVersion", "value": resource_version}]
        merge = self.merge or {}
        return {**merge, "metadata": {**merge.get("metadata", {}), "resourceVersion": resource_version}}


def difference(base: bytes, obj: Object, *, part: Part = "main") -> Difference | None:
    """What in this part of the object differs from the base, None if nothing does that the class knows.

    Raises `DecodeError` if the class cannot read the base.
    """
    known, held = encode(decode(type(obj), base)), encode(obj)
    if known == held:
        return None
    shape = Shape(plain=Any) if isinstance(obj, Untyped) else Shape(plain=type(obj), struct=type(obj))
    changes = _changes(_content(known, obj, part), _content(held, obj, part), _content(base, obj, part), shape)
    if not changes:
        return None
    if _sets_null(changes):
        return Difference(json_patch=_operations("", changes))
    return Difference(merge=_merge_patch(changes))


def adopt(obj: ObjectT, answer: ObjectT, *, part: Part = "main") -> ObjectT:
    """Brings an object up to what the server answered to a write of this part, and returns it. What that write did not send is left alone.

    After a write of the status only that and the version are taken over: the rest may hold changes that are still to be sent.
    """
    if isinstance(obj, Untyped):
        assert isinstance(answer, Untyped)
        _adopt_content(obj.content, answer.content, part)
        return obj
    if part == "status":
        obj.status = answer.status  # type: ignore[attr-defined]  # whoever writes a status has one
        obj.metadata.resource_version = answer.metadata.resource_version
        return obj
    for name in obj.__struct_fields__:
        if name != "status" or not _apart(obj, part):
            setattr(obj, name, getattr(answer, name))
    return obj


# ---- parts


def _apart(obj: Object, part: Part) -> bool:
    """Whether the status is left out."""
    return part == "main" and (isinstance(obj, Untyped) or kind_of(type(obj)).has_status)


class _OfStatus(msgspec.Struct, gc=False):
    status: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_status = msgspec.json.Decoder(_OfStatus).decode


def _content(data: bytes, obj: Object, part: Part) -> dict[str, Any]:
    """What this part of the object says, as `json.loads` would have it."""
    if part == "status":
        status = _status(data).status
        return {} if status is msgspec.UNSET else {"status": msgspec.json.decode(status)}
    content: dict[str, Any] = msgspec.json.decode(data)
    if _apart(obj, part):
        content.pop("status", None)
    metadata = content.get("metadata")
    if isinstance(metadata, dict):
        # The version is the request's precondition, and who manages what is the server's to say.
        metadata = {name: value for name, value in metadata.items() if name not in ("resourceVersion", "managedFields")}
        content = {**content, "metadata": metadata}
    return content


def _adopt_content(content: dict[str, Any], answer: dict[str, Any], part: Part) -> None:
    if part == "status":
        version = answer.get("metadata", {}).get("resourceVersion")
        content["metadata"] = {**content.get("metadata", {}), "resourceVersion": version}
    names = ["status"] if part == "status" else [name for name in (*content, *answer) if name != "status" or part == "all"]
    for name in names:
        if name in answer:
            content[name] = answer[name]
        else:
            content.pop(name, None)


# ---- what changes


class _Put(NamedTuple):
    """This value is to be there."""

    value: Any


class _Gone(NamedTuple):
    """Nothing is to be there."""


_Changes: TypeAlias = "dict[str, _Put | _Gone | _Changes]"


def _changes(before: dict[str, Any], after: dict[str, Any], raw: Any, shape: Shape) -> _Changes:
    changes: _Changes = {name: _Gone() for name in before if name not in after}
    for name, new in after.items():
        if name not in before:
            changes[name] = _Put(new)
            continue
        old, inner = before[name], _inner(shape, name)
        if same(old, new):
            continue
        old_raw = raw.get(name) if isinstance(raw, dict) else None
        if isinstance(old, dict) and isinstance(new, dict) and isinstance(old_raw, dict):
            if deeper := _changes(old, new, old_raw, inner):
                changes[name] = deeper
        else:
            changes[name] = _Put(_continued(old, new, old_raw, inner))
    return changes


def _continued(old: Any, new: Any, raw: Any, shape: Shape) -> Any:
    """The new value as a whole, with what only the raw one knows."""
    if isinstance(old, dict) and isinstance(new, dict) and isinstance(raw, dict):
        return _laid_over(raw, _changes(old, new, raw, shape))
    if isinstance(old, list) and isinstance(new, list) and isinstance(raw, list) and len(old) == len(raw):
        items = shape.items or Shape(plain=Any)
        return [
            item if place is None else _continued(old[place], _keyed(item, old[place], shape.map_keys), raw[place], items)
            for item, place in zip(new, pairs(old, new, shape.map_keys), strict=True)
        ]
    return raw if same(old, new) and raw is not None else new


def _keyed(item: Any, old: Any, keys: tuple[str, ...]) -> Any:
    """The item with the keys of the one that it continues: those that it did not state made no difference to which one that is."""
    return {**{key: old[key] for key in keys if key in old}, **item} if isinstance(item, dict) and isinstance(old, dict) else item


def _inner(shape: Shape, name: str) -> Shape:
    if shape.struct is not None:
        attribute = attributes_of(shape.struct).get(name)
        return attribute.shape if attribute else Shape(plain=Any)
    return shape.items if shape.is_map and shape.items is not None else Shape(plain=Any)


def _laid_over(raw: dict[str, Any], changes: _Changes) -> dict[str, Any]:
    whole = dict(raw)
    for name, change in changes.items():
        if isinstance(change, _Put):
            whole[name] = change.value
        elif isinstance(change, _Gone):
            whole.pop(name, None)
        else:
            whole[name] = _laid_over(whole[name], change)
    return whole


# ---- how it is said


def _sets_null(changes: _Changes) -> bool:
    for change in changes.values():
        if _sets_null(change) if isinstance(change, dict) else isinstance(change, _Put) and _holds_null(change.value):
            return True
    return False


def _holds_null(value: Any) -> bool:
    """Whether a merge patch would take something in the value for a deletion. In lists it would not."""
    return value is None or (isinstance(value, dict) and any(_holds_null(inner) for inner in value.values()))


def _merge_patch(changes: _Changes) -> dict[str, Any]:
    return {
        name: _merge_patch(change) if isinstance(change, dict) else change.value if isinstance(change, _Put) else None
        for name, change in changes.items()
    }


def _operations(path: str, changes: _Changes) -> list[dict[str, Any]]:
    operations: list[dict[str, Any]] = []
    for name, change in changes.items():
        at = f"{path}/{name.replace('~', '~0').replace('/', '~1')}"
        if isinstance(change, _Put):
            operations.append({"op": "add", "path": at, "value": change.value})
        elif isinstance(change, _Gone):
            operations.append({"op": "remove", "path": at})
        else:
            operations.extend(_operations(at, change))
    return operations
