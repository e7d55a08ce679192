"""Objects to bytes, and bytes to objects.

Reading does not judge: what the server has stored is read if there is any way to, since only what can be read can be repaired.
Bounds and patterns are not looked at, unknown fields are passed over, and null reads as absent wherever the class does not give it
a meaning of its own. What cannot be read at all raises `DecodeError`, for that one object.
"""

from __future__ import annotations

import copy
import re
from datetime import datetime
from typing import Any, TypeVar, cast

import msgspec

from .duration import Duration
from .head import Head, Meta, read_head, read_meta
from .kind_info import KindInfo, kind_of
from .metadata import Object
from .quantity import Quantity
from .request import Request
from .shape import Shape, attributes_of, kept_on_class
from .struct import UNSET, is_absent
from .times import MicroTime, whole_seconds
from .untyped import Untyped

T = TypeVar("T", bound=msgspec.Struct)


class DecodeError(Exception):
    """One object cannot be read: ``kind`` and ``key`` say which, ``path`` where in it, ``reason`` why."""

    def __init__(self, kind: str, key: Request, path: str, reason: str) -> None:
        super().__init__(kind, key, path, reason)
        self.kind: str = kind
        self.key: Request = key
        self.path: str = path
        self.reason: str = reason

    def __str__(self) -> str:
        at = f" at {self.path}" if self.path else ""
        return f"{self.kind} {str(self.key) or '(without a name)'} cannot be read{at}: {self.reason}"


def encode(obj: msgspec.Struct, *, status: bool = True) -> bytes:
    """The object as JSON, ``apiVersion`` and ``kind`` first. Without its status if ``status`` is false.

    A plain `Struct` is encoded as it is. Raises `TypeError` for an object without `@kind` or a value that JSON has no form for,
    and `ValueError` for a naive time.
    """
    if isinstance(obj, Untyped):
        return _encode_untyped(obj, status)
    if not status and hasattr(obj, "status"):
        obj = copy.copy(obj)
        obj.status = UNSET
    body = _ENCODER.encode(obj)
    if _ODD_TIME.search(body):
        body = _ENCODER.encode(_with_whole_seconds(obj))
    opening = _opening(type(obj))
    return opening + (b"}" if body == b"{}" else b"," + body[1:]) if opening else body


def to_builtins(obj: msgspec.Struct, *, status: bool = True) -> dict[str, Any]:
    """The object as what `json.loads` would make of `encode`."""
    return cast(dict[str, Any], msgspec.json.decode(encode(obj, status=status)))


def encode_value(value: Any) -> Any:
    """Any value that a field can hold, as `json.loads` would have it."""
    return msgspec.json.decode(_ENCODER.encode(_with_whole_seconds(value)))


def decode(cls: type[T], data: bytes) -> T:
    """An object of the class. Raises `DecodeError` for what cannot be read, however lenient."""
    try:
        if issubclass(cls, Untyped):
            return cast(T, Untyped(_CONTENT.decode(data)))
        return cast(T, _decoder(cls).decode(data))
    except msgspec.ValidationError:
        return from_builtins(cls, _json(cls, data))
    except msgspec.DecodeError as error:
        raise DecodeError(_called(cls), Request("", ""), "", str(error)) from error


def from_builtins(cls: type[T], content: Any) -> T:
    """An object of the class from what `json.loads` or a YAML parser gives; raises as `decode` does."""
    if issubclass(cls, Untyped) and isinstance(content, dict):
        return cast(T, Untyped(content))
    try:
        return msgspec.convert(_as_read(content, Shape(plain=cls, struct=cls)), cls, dec_hook=_decode_hook)
    except msgspec.ValidationError as error:
        reason, _, path = str(error).partition(" - at `$")
        raise DecodeError(_called(cls), _key(content), path.rstrip("`"), reason) from error


def decode_head(data: bytes) -> Head:
    """Key, uid and versions, by one cheap scan. Raises `DecodeError` for what is not an object with metadata."""
    try:
        return read_head(data)
    except msgspec.MsgspecError as error:
        raise _unreadable(data, error) from error


def decode_meta(data: bytes) -> Meta:
    """Labels, annotations, owners and finalizers, by one scan. Raises `DecodeError` for what is not an object with metadata."""
    try:
        return read_meta(data)
    except msgspec.MsgspecError:
        try:
            content = msgspec.json.decode(data)
            metadata = content.get("metadata") if isinstance(content, dict) else None
            return msgspec.convert(_as_read(metadata, Shape(plain=Meta, struct=Meta)), Meta)
        except msgspec.MsgspecError as error:
            raise _unreadable(data, error) from error


# ---- to bytes

# A time that is not in whole seconds of UTC. Looked for in what was written, since most objects hold none. It begins with the rarest of
# the characters, which is what makes the search cheap; text that only looks like a time costs a second pass and stays as it is.
_ODD_TIME = re.compile(rb'T\d\d:\d\d:\d\d(?!Z")')


def _encode_hook(value: Any) -> Any:
    if isinstance(value, (Quantity, Duration, MicroTime)):
        return str.__str__(value) if isinstance(value, str) else str(value)
    if isinstance(value, str):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON: {value!r}")


_ENCODER = msgspec.json.Encoder(enc_hook=_encode_hook)


@kept_on_class
def _opening(cls: type[Any]) -> bytes:
    if not issubclass(cls, Object):
        return b""
    info = kind_of(cls)
    return b'{"apiVersion":%b,"kind":%b' % (msgspec.json.encode(info.api_version), msgspec.json.encode(info.kind))


def _encode_untyped(obj: Untyped, status: bool) -> bytes:
    content = {"apiVersion": obj.api_version, "kind": obj.kind} | obj.content
    if not status:
        content.pop("status", None)
    return _ENCODER.encode(content)


def _with_whole_seconds(value: Any) -> Any:
    if type(value) is datetime:
        return whole_seconds(value)
    if isinstance(value, list):
        return [_with_whole_seconds(item) for item in value]
    if isinstance(value, dict):
        return {key: _with_whole_seconds(item) for key, item in value.items()}
    if isinstance(value, msgspec.Struct) and not is_absent(value):
        value = copy.copy(value)
        for name in value.__struct_fields__:
            msgspec.structs.force_setattr(value, name, _with_whole_seconds(getattr(value, name)))
    return value


# ---- from bytes

_CONTENT = msgspec.json.Decoder(dict[str, Any])


@kept_on_class
def _decoder(cls: type[Any]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(cls, dec_hook=_decode_hook)


def _decode_hook(cls: type[Any], value: Any) -> Any:
    if cls is MicroTime:
        return MicroTime.parse(value) if isinstance(value, str) else _refused("a time", value)
    if cls is Quantity:
        return Quantity(value) if isinstance(value, (str, int, float)) else _refused("a quantity", value)
    if cls is Duration:
        return Duration(value) if isinstance(value, str) else _refused("a duration", value)
    raise TypeError(f"{cls.__name__} has no form in JSON")


def _refused(wanted: str, value: Any) -> Any:
    raise ValueError(f"expected {wanted}, got {value!r}")


def _as_read(value: Any, shape: Shape) -> Any:
    """The JSON without what the class would stumble over: null where it has no meaning, nothing where a list or map is required."""
    if shape.struct is not None and isinstance(value, dict):
        read = {}
        for wire, attribute in attributes_of(shape.struct).items():
            inner = value.get(wire)
            if inner is not None:
                read[wire] = _as_read(inner, attribute.shape)
            elif wire in value and (attribute.shape.optional or attribute.shape.plain is Any):
                read[wire] = None
            elif attribute.required and attribute.shape.is_list:
                read[wire] = []
            elif attribute.required and (attribute.shape.is_map or _needs_nothing(attribute.shape.struct)):
                read[wire] = {}
        return read
    if shape.items is not None and isinstance(value, list):
        return [_empty(shape.items) if item is None else _as_read(item, shape.items) for item in value]
    if shape.items is not None and isinstance(value, dict):
        keeps_null = shape.items.optional or shape.items.plain is Any
        return {key: _as_read(item, shape.items) for key, item in value.items() if item is not None or keeps_null}
    return value


def _json(cls: type[Any], data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except msgspec.DecodeError as error:  # such as a number that is too large for any type
        raise DecodeError(_called(cls), Request("", ""), "", str(error)) from error


def _needs_nothing(struct: type[Any] | None) -> bool:
    """Whether a struct can be read from ``{}``: its schema does not require it then, and it may not be there."""
    return struct is not None and not any(attribute.required for attribute in attributes_of(struct).values())


def _empty(shape: Shape) -> Any:
    if shape.optional:
        return None
    return [] if shape.is_list else {} if shape.is_map or shape.struct else None


def _called(cls: type[Any]) -> str:
    info = cls.__dict__.get("__kind__")
    return info.kind if isinstance(info, KindInfo) else cls.__name__


def _key(content: Any) -> Request:
    metadata = content.get("metadata") if isinstance(content, dict) else None
    stated = metadata if isinstance(metadata, dict) else {}
    return Request(str(stated.get("namespace") or ""), str(stated.get("name") or ""))


def _unreadable(data: bytes, error: Exception) -> DecodeError:
    try:
        content = msgspec.json.decode(data)
    except msgspec.DecodeError:
        content = None
    kind = content.get("kind") if isinstance(content, dict) else None
    reason, _, path = str(error).partition(" - at `$")
    return DecodeError(str(kind or "object"), _key(content), path.rstrip("`"), reason)
