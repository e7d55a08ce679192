"""The messages that have a form of their own in JSON: times, quantities, numbers that may be text, and JSON itself."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

import msgspec

from setpoint.cluster.server.builtin.go_types import (
    FIELDS,
    INT_OR_STRING,
    JSON,
    MICRO_TIME,
    QUANTITY,
    RAW_EXTENSION,
    SCHEMA_UNIONS,
    TIME,
)
from setpoint.cluster.server.protobuf.wire import BYTES, VARINT, MalformedProtobuf, delimited, signed, skipped, tag, varint

Read: TypeAlias = Callable[[bytes], Any]
Field: TypeAlias = tuple[str, int]
"""A field of a message: its name in Go, and its wire type."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_YEARS = range(-62135596800, 253402300800)
"""The seconds of the years that a text can hold."""


def fields_of(data: bytes, message: str, known: dict[int, Field]) -> dict[int, list[Any]]:
    """The values of a message's fields by number: numbers without sign, or bytes. Raises `MalformedProtobuf`."""
    found: dict[int, list[Any]] = {}
    at = 0
    while at < len(data):
        number, wire, at = tag(data, at, message)
        if number not in known:
            at = skipped(data, at, wire)
            continue
        name, wanted = known[number]
        if wire != wanted:
            raise MalformedProtobuf(f"proto: wrong wireType = {wire} for field {name}")
        value: Any
        value, at = varint(data, at) if wire == VARINT else delimited(data, at)
        found.setdefault(number, []).append(value)
    return found


def reader(name: str, message: Callable[[str], Read]) -> Read | None:
    """How a message is read that has a form of its own, None for any other. `message` reads those that have not."""
    if name in SCHEMA_UNIONS:
        return _union(name, message)
    return _READERS.get(name)


def text(data: bytes) -> str:
    """A string. What is not UTF-8 is kept as well as JSON can."""
    return data.decode(errors="replace")


def _moment(data: bytes, nanoseconds: bool) -> datetime | None:
    if not data:
        return None
    found = fields_of(data, "Timestamp", {1: ("Seconds", VARINT), 2: ("Nanos", VARINT)})
    seconds, nanos = signed(_last(found, 1, 0), 64), signed(_last(found, 2, 0), 32)
    if seconds not in _YEARS:
        raise MalformedProtobuf("Time.MarshalJSON: year outside of range [0,9999]")
    return _EPOCH + timedelta(seconds=seconds, microseconds=nanos // 1000 if nanoseconds else 0)


def _time(data: bytes) -> str | None:
    moment = _moment(data, nanoseconds=False)
    return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")


def _micro_time(data: bytes) -> str | None:
    moment = _moment(data, nanoseconds=True)
    return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")


def _quantity(data: bytes) -> str:
    return text(_last(fields_of(data, "Quantity", {1: ("String_", BYTES)}), 1, b"")) or "0"


def _int_or_string(data: bytes) -> int | str:
    found = fields_of(data, "IntOrString", {1: ("Type", VARINT), 2: ("IntVal", VARINT), 3: ("StrVal", BYTES)})
    match signed(_last(found, 1, 0), 64):
        case 0:
            return signed(_last(found, 2, 0), 32)
        case 1:
            return text(_last(found, 3, b""))
        case _:
            raise MalformedProtobuf("impossible IntOrString.Type")


def _json_in(message: str) -> Read:
    def read(data: bytes) -> Any:
        raw = _last(fields_of(data, message, {1: ("Raw", BYTES)}), 1, b"")
        if not raw:
            return None
        try:
            return msgspec.json.decode(raw)
        except (msgspec.DecodeError, RecursionError) as error:
            raise MalformedProtobuf(f"{message}: {error}") from error

    return read


def _last(found: dict[int, list[Any]], number: int, default: Any) -> Any:
    return found.get(number, (default,))[-1]


_READERS: dict[str, Read] = {
    TIME: _time,
    MICRO_TIME: _micro_time,
    QUANTITY: _quantity,
    INT_OR_STRING: _int_or_string,
    RAW_EXTENSION: _json_in("RawExtension"),
    FIELDS: _json_in("FieldsV1"),
    JSON: _json_in("JSON"),
}


def _union(name: str, message: Callable[[str], Read]) -> Read:
    """A schema or something else."""
    short, schema = name.rpartition(".")[2], f"{name.rpartition('.')[0]}.JSONSchemaProps"
    fields: dict[int, Field]
    match short.removeprefix("JSONSchemaPropsOr"):
        case "Bool":
            fields, at = {1: ("Allows", VARINT), 2: ("Schema", BYTES)}, 2
        case "Array":
            fields, at = {1: ("Schema", BYTES), 2: ("JSONSchemas", BYTES)}, 1
        case _:
            fields, at = {1: ("Schema", BYTES), 2: ("Property", BYTES)}, 1

    def read(data: bytes) -> Any:
        found = fields_of(data, short, fields)
        if at in found:
            return message(schema)(b"".join(found[at]))
        if at == 2:
            return bool(_last(found, 1, 0))
        return [text(each) if fields[2][0] == "Property" else message(schema)(each) for each in found.get(2, ())]

    return read
