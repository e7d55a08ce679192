"""What cannot be read into the Go structs of a built-in kind at all: a bad request, whatever validation would say.

The words are those of Go's JSON decoder, since that is what the real server's clients see.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec

from setpoint.cluster.server.builtin.go_types import (
    INT_OR_STRING,
    MICRO_TIME,
    QUANTITY,
    SCHEMA_OR_BOOL,
    SPECIAL,
    TIME,
    GoType,
    go_type,
    struct,
)
from setpoint.cluster.server.builtin.quantities import quantity_problem

_MICRO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6,9}(Z|[+-]\d\d:\d\d)", re.ASCII)
_BASE64 = re.compile(r"[A-Za-z0-9+/\r\n]*")
_RANGES = {
    "int32": (-(1 << 31), 1 << 31),
    "int64": (-(1 << 63), 1 << 63),
    "int": (-(1 << 63), 1 << 63),
    "uint8": (0, 1 << 8),
    "uint32": (0, 1 << 32),
    "uint64": (0, 1 << 64),
}


def malformed(name: str, obj: dict[str, Any]) -> str | None:
    """The first thing in an object that Go could not decode, None if there is none. ``metadata`` is not looked at.

    ``name`` is the struct's, as in OpenAPI. To be put behind ``<kind> in version "<version>" cannot be handled as a <kind>: ``.
    Nulls are fine anywhere: they mean nothing.
    """
    body = {key: value for key, value in obj.items() if key != "metadata"}
    return next(_struct(name, body, ""), None)


def _struct(name: str, value: dict[str, Any], path: str) -> Iterator[str]:
    fields = struct(name).fields
    for key, item in value.items():
        if item is not None and (field := fields.get(key)) is not None:
            at = f"{path}.{key}" if path else key
            yield from _value(field.type, item, at, f"{name.rpartition('.')[2]}.{at}")


def _value(type_: GoType, value: Any, path: str, field: str) -> Iterator[str]:
    match type_.shape:
        case "struct" if type_.name in SPECIAL:
            yield from _special(type_.name, value, path, field)
        case "struct":
            if isinstance(value, dict):
                yield from _struct(type_.name, value, path)
            else:
                yield _mismatch(value, field, type_.shown)
        case "list":
            if isinstance(value, list):
                yield from _each(type_.name, value, path, field)
            else:
                yield _mismatch(value, field, type_.shown)
        case "map":
            if isinstance(value, dict):
                yield from _each(type_.name, list(value.values()), path, field)
            else:
                yield _mismatch(value, field, type_.shown)
        case "bytes":
            if not isinstance(value, str):
                yield _mismatch(value, field, type_.shown)
            elif (problem := bytes_problem(value)) is not None:
                yield f"illegal base64 data at input byte {problem}"
        case "scalar":
            yield from _scalar(type_, value, field)


def _each(text: str, items: list[Any], path: str, field: str) -> Iterator[str]:
    held = go_type(text)
    if held.shape == "scalar" and held.name == "string":
        # The most common case by far: labels, names, arguments.
        yield from (_mismatch(item, field, held.shown) for item in items if not isinstance(item, str) and item is not None)
        return
    for item in items:
        if item is not None:
            yield from _value(held, item, path, field)


def _special(name: str, value: Any, path: str, field: str) -> Iterator[str]:
    """A struct with a form of its own. Those that take any JSON take all."""
    match name:
        case _ if name == QUANTITY:
            text = value if isinstance(value, str) else str(value) if isinstance(value, (int, float)) else ""
            if problem := quantity_problem("" if isinstance(value, bool) else text):
                yield problem
        case _ if name == INT_OR_STRING:
            if not isinstance(value, str):
                yield from _scalar(go_type("int32"), value, field)
        case _ if name in (TIME, MICRO_TIME):
            if isinstance(value, str):
                if (unread := time_problem(value, micro=name == MICRO_TIME)) is not None:
                    yield unread
            else:
                yield _mismatch(value, field, "string")
        case _ if name == SCHEMA_OR_BOOL:
            if not isinstance(value, (bool, dict)):
                yield "boolean or JSON schema expected"


def _scalar(type_: GoType, value: Any, field: str) -> Iterator[str]:
    match type_.name:
        case "string":
            if not isinstance(value, str):
                yield _mismatch(value, field, type_.shown)
        case "bool":
            if not isinstance(value, bool):
                yield _mismatch(value, field, type_.shown)
        case "float64":
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                yield _mismatch(value, field, type_.shown)
        case kind:
            if isinstance(value, bool) or not isinstance(value, int) or not int_fits(kind, value):
                yield _mismatch(value, field, type_.shown, shown=True)


def int_fits(kind: str, value: int) -> bool:
    """Whether one of Go's types of whole numbers holds a number."""
    least, end = _RANGES[kind]
    return least <= value < end


def _mismatch(value: Any, field: str, type_: str, *, shown: bool = False) -> str:
    """``shown``: where a number is wanted, Go says which number does not fit."""
    match value:
        case bool():
            found = "bool"
        case str():
            found = "string"
        case int() | float():
            found = f"number {value}" if shown else "number"
        case list():
            found = "array"
        case _:
            found = "object"
    return f"json: cannot unmarshal {found} into Go struct field {field} of type {type_}"


def bytes_problem(text: str) -> int | None:
    """Where Go's decoder stops at padded standard base64, which may hold line ends; None if it does not."""
    good = _BASE64.match(text)
    assert good is not None
    digits = len(good[0].replace("\r", "").replace("\n", ""))
    rest = text[good.end() :].replace("\r", "").replace("\n", "")
    padding = -digits % 4
    if rest == "=" * padding and padding != 3:
        return None
    if rest and (rest[0] != "=" or padding in (0, 3)):
        return good.end()
    return digits - digits % 4 if not rest else len(text)


@lru_cache(maxsize=1024)
def time_problem(text: str, *, micro: bool = False) -> str | None:
    """Why a text is no time, or no time with microseconds; None if it is one."""
    layout = "2006-01-02T15:04:05.000000Z07:00" if micro else "2006-01-02T15:04:05Z07:00"
    try:
        msgspec.convert(text, datetime)
        readable = True
    except msgspec.ValidationError:
        readable = False
    if not readable or "T" not in text:
        return f'parsing time "{text}" as "{layout}": cannot parse "{text}" as "2006"'
    if micro and not _MICRO.fullmatch(text):
        return f'parsing time "{text}" as "{layout}": cannot parse "{text[19:]}" as ".000000"'
    return None
