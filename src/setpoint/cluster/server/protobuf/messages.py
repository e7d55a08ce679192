"""Messages of the Kubernetes API, read into what Go would write of them as JSON. The tables are made of `builtin.go_types`.

A message that comes in parts is merged, and of a single value that comes twice the last one counts, as everywhere in protobuf.
"""

from __future__ import annotations

import base64
import struct as layout
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from setpoint.cluster.server.builtin.go_types import Field, GoType, go_type, struct
from setpoint.cluster.server.builtin.structs import zero_of
from setpoint.cluster.server.protobuf.special import Read, reader, text
from setpoint.cluster.server.protobuf.wire import BYTES, FIXED64, VARINT, MalformedProtobuf, delimited, fixed, signed, skipped, tag, varint

Json = dict[str, Any]
_EMPTY: tuple[Any, ...] = ("", 0, [], {})  # and False, which equals 0
_BITS = {"int32": 32, "int64": 64, "int": 64}


def decode_message(name: str, data: bytes) -> Json:
    """The message of a struct (its OpenAPI name) as JSON. Raises `MalformedProtobuf`, and `KeyError` for a struct that is not known."""
    found: Json = {}
    _message(name).read(data, found)
    return _finished(name, found)


@dataclass(frozen=True, slots=True)
class _Part:
    """A field of a message: its name in Go, its wire type, and what takes a value into the object."""

    go_name: str
    wire: int
    take: Callable[[Any, Json], None]
    packed: Callable[[Any], Any] | None = None
    """For a list of numbers, which may come in one piece: how one of them is read."""


class _Message:
    def __init__(self, name: str) -> None:
        self._shown = name.rpartition(".")[2]
        about = struct(name)
        self._parts = {field.number: _part(field) for field in about.own.values() if field.number}
        for number, go_name, inlined in about.inlined:
            if number:
                self._parts[number] = _Part(go_name, BYTES, partial(_inline, inlined))

    def read(self, data: bytes, found: Json) -> None:
        """Takes the fields of a message into an object."""
        at, end, parts, shown = 0, len(data), self._parts, self._shown
        while at < end:
            number, wire, at = tag(data, at, shown)
            part = parts.get(number)
            if part is None:
                at = skipped(data, at, wire)
                continue
            value: Any
            if wire == BYTES and part.packed is not None:
                value, at = delimited(data, at)
                _unpack(value, part, found)
                continue
            if wire != part.wire:
                raise MalformedProtobuf(f"proto: wrong wireType = {wire} for field {part.go_name}")
            if wire == BYTES:
                value, at = delimited(data, at)
            elif wire == VARINT:
                value, at = varint(data, at)
            else:
                value, at = fixed(data, at, 8)
            part.take(value, found)


def _inline(name: str, data: bytes, found: Json) -> None:
    _message(name).read(data, found)


@lru_cache(maxsize=2048)
def _message(name: str) -> _Message:
    return _Message(name)


def _unpack(data: bytes, part: _Part, found: Json) -> None:
    at = 0
    while at < len(data):
        value: Any
        value, at = varint(data, at) if part.wire == VARINT else fixed(data, at, 8)
        part.take(value, found)


def _part(field: Field) -> _Part:
    key, type_ = field.name, field.type
    if type_.shape == "map":
        return _Part(field.go_name, BYTES, _into_map(key, type_))
    if type_.shape == "list" and not _is_message(type_):
        held = go_type(type_.name)
        wire, read = _wire(held), _value(held)

        def append(data: Any, found: Json) -> None:
            found.setdefault(key, []).append(read(data))

        return _Part(field.go_name, wire, append, None if wire == BYTES else read)
    if type_.shape == "struct" and reader(type_.name, _reading) is None:

        def merge(data: bytes, found: Json) -> None:
            _message(type_.name).read(data, found.setdefault(key, {}))

        return _Part(field.go_name, BYTES, merge)
    read_one = _value(type_)

    def put(data: Any, found: Json) -> None:
        found[key] = read_one(data)

    return _Part(field.go_name, _wire(type_), put)


def _into_map(key: str, type_: GoType) -> Callable[[bytes, Json], None]:
    held = go_type(type_.name)
    wire, read, zero = _wire(held), _value(held), zero_of(held)
    empty = "" if held.shape == "bytes" else [] if held.shape == "list" else {} if held.shape == "struct" and zero is None else zero

    def take(data: bytes, found: Json) -> None:
        name, value, at = "", empty, 0
        while at < len(data):
            number, sent, at = tag(data, at, "")
            # The wire types of the two are not looked at, here as there.
            if number == 1:
                raw, at = delimited(data, at)
                name = text(raw)
            elif number == 2:
                content: Any
                content, at = delimited(data, at) if wire == BYTES else varint(data, at) if wire == VARINT else fixed(data, at, 8)
                value = read(content)
            else:
                at = skipped(data, at, sent)
        found.setdefault(key, {})[name] = value

    return take


def _is_message(type_: GoType) -> bool:
    """Whether a list is wrapped in a message of its own: those of strings that have a name are."""
    return type_.shape == "list" and type_.name == "string" and not type_.text.removeprefix("*").startswith("[]")


def _wire(type_: GoType) -> int:
    if type_.shape != "scalar" or type_.name == "string":
        return BYTES
    return FIXED64 if type_.name == "float64" else VARINT


def _value(type_: GoType) -> Read | Callable[[Any], Any]:
    """How a single value is read."""
    match type_.shape:
        case "struct":
            return reader(type_.name, _reading) or _reading(type_.name)
        case "bytes":
            return lambda data: base64.b64encode(data).decode()
        case "list":
            return _wrapped
    match type_.name:
        case "string":
            return text
        case "bool":
            return bool
        case "float64":
            return lambda data: layout.unpack("<d", data)[0]
        case number:
            bits = _BITS.get(number)
            return (lambda value: value) if bits is None else (lambda value: signed(value, bits))


def _wrapped(data: bytes) -> list[str]:
    found: list[str] = []
    at = 0
    while at < len(data):
        number, wire, at = tag(data, at, "ExtraValue")
        if number != 1:
            at = skipped(data, at, wire)
        elif wire != BYTES:
            raise MalformedProtobuf(f"proto: wrong wireType = {wire} for field Items")
        else:
            item, at = delimited(data, at)
            found.append(text(item))
    return found


def _reading(name: str) -> Read:
    return lambda data: decode_message(name, data)


# ---- what Go would write of it


def _finished(name: str, found: Json) -> Json:
    """The object without what Go leaves out, and with what it writes in any case."""
    result: Json = {}
    for key, field in struct(name).fields.items():
        type_ = field.type
        nested = type_.shape == "struct" and reader(type_.name, _reading) is None
        if key in found:
            value = found[key]
            if nested:
                value = _finished(type_.name, value)
            if type_.pointer or not (field.omitempty or field.omitzero) or (nested and not field.omitzero) or value not in (*_EMPTY, None):
                result[key] = value
        elif not field.number:
            continue
        elif nested and not type_.pointer and not field.omitzero:
            result[key] = _finished(type_.name, {})
        elif not field.omitempty and not field.omitzero and not type_.pointer:
            result[key] = zero_of(type_)
    return result
