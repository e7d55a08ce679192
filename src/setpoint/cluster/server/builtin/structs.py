"""Objects of built-in kinds as a Go server gives them back: `as_go_writes`.

A real API server reads a built-in object into Go structs and writes it from them. On the way empty lists and maps vanish, and so do
zeros, ``""`` and ``false`` where the struct holds a plain value that may be left out; a pointer to them stays. A struct held by value is
always written, if only as ``{}``, and so is what may not be left out, if only as ``""`` or null. Quantities and times come out in their
canonical form. `go_types` tells which is which.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from setpoint.cluster.server.builtin.go_types import (
    MICRO_TIME,
    QUANTITY,
    SCHEMA,
    SCHEMA_UNIONS,
    SPECIAL,
    TIME,
    Field,
    GoType,
    go_type,
    registered,
    struct,
)
from setpoint.cluster.server.builtin.quantities import canonical

Writer = Callable[[Any], Any]


def as_go_writes(name: str, obj: Any) -> Any:
    """A copy of an object as it comes back from the server's structs. Values of a wrong type are left as they are, for others to refuse.

    ``name`` is the struct's, as in OpenAPI. What OpenAPI has as a field's default is filled in.
    """
    return _struct(name)(obj)


def as_go_keeps(name: str, obj: Any) -> Any:
    """The same as it comes back from storage, where a list that is empty is none: it is written as null."""
    return _struct(name, True)(obj) if _holds_empty_list(obj) else obj


def _holds_empty_list(value: Any) -> bool:
    if type(value) is dict:
        return any(map(_holds_empty_list, value.values()))
    return type(value) is list and (not value or any(map(_holds_empty_list, value)))


def empty_field(name: str, field: str) -> Any:
    """What is written of a field when nothing is in it; None for nothing. The caller's own."""
    return _struct(name)({}).get(field)


def empty_object(group: str, version: str, kind: str) -> dict[str, Any]:
    """What is written of a kind's object beside its metadata when nothing is in it. The caller's own."""
    fields: dict[str, Any] = _struct(registered()[group, version, kind])({})
    return {name: value for name, value in fields.items() if name not in ("apiVersion", "kind", "metadata")}


@lru_cache(maxsize=2048)
def _struct(name: str, kept: bool = False) -> Writer:
    """The writer of one struct, or of what storage has `kept` of it.

    Its fields' writers are made when the first object comes, since some structs hold themselves.
    """
    if name in SPECIAL:
        forms: dict[str, Writer] = {
            QUANTITY: canonical,
            TIME: _time,
            MICRO_TIME: _micro_time,
            **dict.fromkeys(SCHEMA_UNIONS, _schema_or_else),
        }
        return forms.get(name, copy.deepcopy)
    fields = struct(name).fields
    always: dict[str, Any] = {}
    for key, field in fields.items():
        zero = _absent(field)
        if zero is not _NOTHING:
            always[key] = zero
    writers: dict[str, Writer] = {}

    def write(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        result = {}
        for key, item in value.items():
            if item is None:
                continue
            field = fields.get(key)
            if field is None:
                result[key] = copy.deepcopy(item)
                continue
            if not field.type.pointer and item in _EMPTY:
                if kept and field.type.shape in ("list", "map", "bytes") and not field.omitempty:
                    result[key] = None
                    continue
                if (field.omitempty or field.omitzero) and field.type.shape != "struct":
                    continue
            writer = writers.get(key)
            if writer is None:
                writer = writers[key] = _value(field.type, kept)
            result[key] = writer(item)
        for key, zero in always.items():
            if key not in result:
                writer = writers.get(key)
                if writer is None:
                    writer = writers[key] = _value(fields[key].type, kept)
                result[key] = None if zero is None else writer(zero)
        return result

    return write


class _Nothing:
    """Stands for a field that is not written."""


_NOTHING = _Nothing()
_EMPTY: tuple[Any, ...] = ("", 0, [], {})  # and False, which equals 0
_ZEROS: dict[str, Any] = {"string": "", "bool": False}


def _absent(field: Field) -> Any:
    """What is written of a field that was not sent: a default, an empty value, null, or nothing."""
    if field.default is not None:
        return field.default
    if field.omitzero or field.name.startswith("("):
        return _NOTHING
    return zero_of(field.type) if not field.omitempty or (field.type.shape == "struct" and not field.type.pointer) else _NOTHING


def zero_of(type_: GoType) -> Any:
    """The empty value of a type, before it is written."""
    if type_.pointer or type_.shape in ("list", "map", "bytes", "any"):
        return None
    if type_.shape == "scalar":
        return _ZEROS.get(type_.name, 0)
    if type_.name in SPECIAL:
        return {QUANTITY: "0", _INT_OR_STRING: 0}.get(type_.name)
    return {}


_INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"


def _value(type_: GoType, kept: bool) -> Writer:
    if type_.shape == "struct":
        return _struct(type_.name, kept)
    if type_.shape == "list":
        write_item = _element(type_.name, kept)
        return lambda value: [write_item(item) for item in value] if isinstance(value, list) else value
    if type_.shape == "map":
        write_entry = _element(type_.name, kept)
        return lambda value: {key: write_entry(item) for key, item in value.items()} if isinstance(value, dict) else value
    return copy.deepcopy if type_.shape == "any" else _same


def _element(text: str, kept: bool) -> Writer:
    """The writer of what a list or a map holds, where null is a zero."""
    held = go_type(text)
    write, zero = _value(held, kept), "" if held.shape == "bytes" else zero_of(held)
    return lambda value: write(zero if value is None else value)


def _same(value: Any) -> Any:
    return value


def _schema_or_else(value: Any) -> Any:
    """A schema, or what may stand for one: several, names, true or false."""
    match value:
        case dict():
            return _struct(SCHEMA)(value)
        case list():
            return [_schema_or_else(item) for item in value]
    return value


_UTC_SECONDS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_UTC_MICROS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)


def _time(value: Any) -> Any:
    """A time in whole seconds of UTC."""
    if not isinstance(value, str) or _UTC_SECONDS.fullmatch(value):
        return value
    return _in_utc(value, "seconds")


def _micro_time(value: Any) -> Any:
    """A time in microseconds of UTC."""
    if not isinstance(value, str) or _UTC_MICROS.fullmatch(value):
        return value
    return _in_utc(value, "microseconds")


def _in_utc(value: str, precision: str) -> str:
    try:
        moment = datetime.fromisoformat(value).astimezone(UTC)
    except (ValueError, OverflowError):
        return value
    return moment.isoformat(timespec=precision).replace("+00:00", "Z")
