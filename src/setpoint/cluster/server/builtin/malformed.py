"""What cannot be read into the Go structs of a built-in kind at all: a bad request, whatever validation would say.

The words are those of Go's JSON decoder, since that is what the real server's clients see.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec

from .loader import kind_named, schemas

_REFERENCE = "#/components/schemas/"
_META = "io.k8s.apimachinery.pkg.apis.meta.v1."
_QUANTITY = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+|)", re.ASCII)
_QUANTITY_TEXT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_MICRO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6,9}(Z|[+-]\d\d:\d\d)", re.ASCII)
_BASE64 = re.compile(r"[A-Za-z0-9+/\r\n]*")
_GO_TYPES = {"string": "string", "boolean": "bool", "integer": "int64", "number": "float64", "object": "map[string]string"}
_LIMITS = {"int32": 1 << 31, "int64": 1 << 63}


def malformed(kind_name: str, obj: dict[str, Any]) -> str | None:
    """The first thing in an object that Go could not decode, None if there is none. ``metadata`` is not looked at.

    To be put behind ``<kind> in version "<version>" cannot be handled as a <kind>: ``. Nulls are fine anywhere: they mean nothing.
    """
    kind = kind_named(kind_name)
    if kind is None:
        return None
    reader = _Reader(schemas(kind.group, kind.version))
    body = {key: value for key, value in obj.items() if key != "metadata"}
    return next(reader.struct(kind.schema_name, body, ""), None)


class _Reader:
    def __init__(self, schemas: dict[str, dict[str, Any]]) -> None:
        self._schemas = schemas

    def struct(self, name: str, value: dict[str, Any], path: str) -> Iterator[str]:
        properties = self._schemas[name].get("properties", {})
        for key, item in value.items():
            if key in properties and item is not None:
                at = f"{path}.{key}" if path else key
                yield from self._value(properties[key], item, at, f"{name.rpartition('.')[2]}.{at}")

    def _value(self, schema: dict[str, Any], value: Any, path: str, field: str) -> Iterator[str]:
        wrapped = schema["allOf"][0] if "allOf" in schema else schema
        reference = wrapped.get("$ref")
        if isinstance(reference, str):
            yield from self._reference(reference.removeprefix(_REFERENCE), value, path, field)
        elif "items" in schema:
            if not isinstance(value, list):
                yield _mismatch(value, field, f"[]{self._go_type(schema['items'])}")
                return
            for item in value:
                if item is not None:
                    yield from self._value(schema["items"], item, path, field)
        elif schema.get("type") == "object":
            entries = schema.get("additionalProperties")
            if not isinstance(value, dict):
                yield _mismatch(value, field, f"map[string]{self._go_type(entries or {'type': 'string'})}")
            elif entries:
                for item in value.values():
                    if item is not None:
                        yield from self._value(entries, item, path, field)
        else:
            yield from _scalar(schema, value, field)

    def _reference(self, name: str, value: Any, path: str, field: str) -> Iterator[str]:
        schema = self._schemas[name]
        short = name.rpartition(".")[2]
        if short == "Quantity":
            text = value if isinstance(value, str) else str(value) if isinstance(value, (int, float)) else ""
            if isinstance(value, bool) or not _QUANTITY.fullmatch(text):
                yield _QUANTITY_TEXT
        elif short == "IntOrString":
            if not isinstance(value, str):
                yield from _scalar({"type": "integer", "format": "int32"}, value, field)
        elif name in (f"{_META}Time", f"{_META}MicroTime"):
            if not isinstance(value, str):
                yield _mismatch(value, field, "string")
            else:
                yield from _time(value, micro=short == "MicroTime")
        elif schema.get("type") == "object":
            if not isinstance(value, dict):
                yield _mismatch(value, field, f"v1.{short}")
            elif "properties" in schema:
                yield from self.struct(name, value, path)

    def _go_type(self, schema: dict[str, Any]) -> str:
        reference = (schema["allOf"][0] if "allOf" in schema else schema).get("$ref")
        if isinstance(reference, str):
            return f"v1.{reference.rpartition('.')[2]}"
        if "items" in schema:
            return f"[]{self._go_type(schema['items'])}"
        return "[]uint8" if schema.get("format") == "byte" else _go_scalar(schema)


def _go_scalar(schema: dict[str, Any]) -> str:
    kind = _GO_TYPES.get(schema.get("type", ""), "string")
    return schema.get("format", kind) if kind == "int64" else kind


def _scalar(schema: dict[str, Any], value: Any, field: str) -> Iterator[str]:
    expected = schema.get("type")
    if expected == "string":
        if not isinstance(value, str):
            yield _mismatch(value, field, "string")
        elif schema.get("format") == "byte" and (problem := _base64_problem(value)) is not None:
            yield f"illegal base64 data at input byte {problem}"
    elif expected == "boolean":
        if not isinstance(value, bool):
            yield _mismatch(value, field, "bool")
    elif expected == "integer":
        limit = _LIMITS[schema.get("format", "int64")]
        if isinstance(value, bool) or not isinstance(value, int) or not -limit <= value < limit:
            yield _mismatch(value, field, _go_scalar(schema), shown=True)
    elif expected == "number" and (isinstance(value, bool) or not isinstance(value, (int, float))):
        yield _mismatch(value, field, "float64")


def _mismatch(value: Any, field: str, go_type: str, *, shown: bool = False) -> str:
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
    return f"json: cannot unmarshal {found} into Go struct field {field} of type {go_type}"


def _base64_problem(text: str) -> int | None:
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


def _time(text: str, *, micro: bool) -> Iterator[str]:
    layout = "2006-01-02T15:04:05.000000Z07:00" if micro else "2006-01-02T15:04:05Z07:00"
    try:
        msgspec.convert(text, datetime)
        readable = True
    except msgspec.ValidationError:
        readable = False
    if not readable or "T" not in text:
        yield f'parsing time "{text}" as "{layout}": cannot parse "{text}" as "2006"'
    elif micro and not _MICRO.fullmatch(text):
        yield f'parsing time "{text}" as "{layout}": cannot parse "{text[19:]}" as ".000000"'
