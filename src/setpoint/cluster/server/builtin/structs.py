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
from typing import Any, Literal, TypeAlias

import msgspec

from setpoint.cluster.server.builtin.go_types import (
    INT_OR_STRING,
    MICRO_TIME,
    QUANTITY,
    SCHEMA,
    SCHEMA_OR_BOOL,
    SCHEMA_UNIONS,
    SPECIAL,
    TIME,
    Field,
    GoType,
    go_type,
    registered,
    struct,
)
from setpoint.cluster.server.builtin.malformed import bytes_problem, int_fits, malformed, time_problem
from setpoint.cluster.server.builtin.quantities import canonical, quantity_problem
from setpoint.cluster.server.schema import Settled, unsettle

Writer = Callable[[Any], Any]
Purpose: TypeAlias = Literal["read", "write", "keep"]
"""For what an object goes through its structs: it was sent, and what Go cannot read is noticed; it is written; it is written to storage."""


class Unreadable(ValueError):
    """Go cannot read an object into its structs. The text is what comes behind ``<kind> ... cannot be handled as a <kind>: ``."""


class _Misfit(Exception):
    """Something that Go may not be able to read, wherever it is."""


def as_go_reads(name: str, obj: dict[str, Any]) -> Any:
    """What `as_go_writes` gives, of an object that somebody has sent, of which parts may be `Settled`.

    Raises `Unreadable` with what is `malformed` in it.
    """
    try:
        return _struct(name, "read")(obj)
    except _Misfit:
        obj = unsettle(obj)
        if (problem := malformed(name, obj)) is not None:
            raise Unreadable(problem) from None
        return as_go_writes(name, obj)


def as_go_writes(name: str, obj: Any) -> Any:
    """A copy of an object as it comes back from the server's structs. Values of a wrong type are left as they are, for others to refuse.

    ``name`` is the struct's, as in OpenAPI. What OpenAPI has as a field's default is filled in.
    """
    return _struct(name)(obj)


def as_go_keeps(name: str, obj: Any) -> Any:
    """The same as it comes back from storage, where a list that is empty is none: it is written as null."""
    return _struct(name, "keep")(obj) if b"[]" in _written(obj) else obj


_written = msgspec.json.Encoder().encode


def empty_field(name: str, field: str) -> Any:
    """What is written of a field when nothing is in it; None for nothing. The caller's own."""
    return _struct(name)({}).get(field)


def empty_object(group: str, version: str, kind: str) -> dict[str, Any]:
    """What is written of a kind's object beside its metadata when nothing is in it. The caller's own."""
    fields: dict[str, Any] = _struct(registered()[group, version, kind])({})
    return {name: value for name, value in fields.items() if name not in ("apiVersion", "kind", "metadata")}


@lru_cache(maxsize=4096)
def _struct(name: str, purpose: Purpose = "write") -> Writer:
    """The writer of one struct, for a purpose.

    Its fields' writers are made when the first object comes, since some structs hold themselves.
    """
    if name in SPECIAL:
        return _special(name, purpose)
    fields = struct(name).fields
    always = {key: zero for key, field in fields.items() if (zero := _absent(field)) is not _NOTHING}
    steps: dict[str, tuple[Writer, bool, bool]] = {}

    def step(key: str, field: Field) -> tuple[Writer, bool, bool]:
        """How a field is written, whether it is left out where it is empty, and whether it is null then."""
        droppable = not field.type.pointer and field.type.shape != "struct" and (field.omitempty or field.omitzero)
        nulled = purpose == "keep" and not field.type.pointer and field.type.shape in ("list", "map", "bytes") and not field.omitempty
        made = steps[key] = _value(field.type, purpose), droppable, nulled
        return made

    def write(value: Any) -> Any:
        if type(value) is not dict:
            return _odd(value, purpose)
        result = {}
        for key, item in value.items():
            if item is None:
                continue
            known = steps.get(key)
            if known is None:
                if (field := fields.get(key)) is None:
                    result[key] = copy.deepcopy(item)
                    continue
                known = step(key, field)
            writer, droppable, nulled = known
            written = writer(item)
            if item or not (droppable or nulled):
                result[key] = written
            elif nulled:
                result[key] = None
        for key, zero in always.items():
            if key not in result:
                result[key] = None if zero is None else (steps.get(key) or step(key, fields[key]))[0](zero)
        return result

    return write


def _odd(value: Any, purpose: Purpose) -> Any:
    """What is kept of a value of a wrong type, or of a part that has been read."""
    if type(value) is Settled:
        return value.opened()
    if purpose == "read":
        raise _Misfit
    return value


def _special(name: str, purpose: Purpose) -> Writer:
    """The writer of a struct with a form of its own."""
    if purpose == "read" and name in _READ:
        return _READ[name]
    forms: dict[str, Writer] = {QUANTITY: canonical, TIME: _time, MICRO_TIME: _micro_time, **dict.fromkeys(SCHEMA_UNIONS, _schema_or_else)}
    return forms.get(name, _copied)


def _copied(value: Any) -> Any:
    return copy.deepcopy(value) if type(value) is dict or type(value) is list else value


class _Nothing:
    """Stands for a field that is not written."""


_NOTHING = _Nothing()
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
        return {QUANTITY: "0", INT_OR_STRING: 0}.get(type_.name)
    return {}


def _value(type_: GoType, purpose: Purpose) -> Writer:
    if type_.shape == "struct":
        return _struct(type_.name, purpose)
    if type_.shape == "list":
        write_item = _element(type_.name, purpose)
        return lambda value: [write_item(item) for item in value] if type(value) is list else _odd(value, purpose)
    if type_.shape == "map":
        write_entry = _element(type_.name, purpose)
        return lambda value: {key: write_entry(item) for key, item in value.items()} if type(value) is dict else _odd(value, purpose)
    if type_.shape == "any":
        return copy.deepcopy
    if purpose != "read":
        return _same
    return _read_bytes if type_.shape == "bytes" else _scalar(type_.name)


def _element(text: str, purpose: Purpose) -> Writer:
    """The writer of what a list or a map holds, where null is a zero."""
    held = go_type(text)
    write, write_zero, zero = _value(held, purpose), _value(held, "write"), "" if held.shape == "bytes" else zero_of(held)
    return lambda value: write_zero(zero) if value is None else write(value)


def _same(value: Any) -> Any:
    return value


# What was sent: the values that Go reads, as it writes them.


def _scalar(name: str) -> Writer:
    match name:
        case "string":
            return _of_type(str)
        case "bool":
            return _of_type(bool)
        case "float64":
            return _of_type(float, int)
    return lambda value: value if type(value) is int and int_fits(name, value) else _odd(value, "read")


def _of_type(wanted: type, or_else: type | None = None) -> Writer:
    def read(value: Any) -> Any:
        if type(value) is not wanted and type(value) is not or_else:
            raise _Misfit
        return value

    return read


def _read_bytes(value: Any) -> Any:
    return value if type(value) is str and bytes_problem(value) is None else _odd(value, "read")


def _read_quantity(value: Any) -> Any:
    return canonical(value) if type(value) is str and not quantity_problem(value) else _odd(value, "read")


def _read_int_or_string(value: Any) -> Any:
    return value if type(value) is str or (type(value) is int and int_fits("int32", value)) else _odd(value, "read")


def _read_time(value: Any) -> Any:
    return _time(value) if type(value) is str and time_problem(value) is None else _odd(value, "read")


def _read_micro_time(value: Any) -> Any:
    return _micro_time(value) if type(value) is str and time_problem(value, micro=True) is None else _odd(value, "read")


def _read_schema_or_bool(value: Any) -> Any:
    return _schema_or_else(value) if type(value) is dict or type(value) is bool else _odd(value, "read")


_READ: dict[str, Writer] = {
    QUANTITY: _read_quantity,
    INT_OR_STRING: _read_int_or_string,
    TIME: _read_time,
    MICRO_TIME: _read_micro_time,
    SCHEMA_OR_BOOL: _read_schema_or_bool,
}


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
