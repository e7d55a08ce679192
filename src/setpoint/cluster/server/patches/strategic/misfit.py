"""What a patched object holds that the kind's Go structs cannot: the words are those of the converter that fills the structs from a map.

They differ from those for a body that was sent as JSON, see `builtin.malformed`.
"""

from __future__ import annotations

from collections.abc import Iterator

from setpoint.cluster.server.metadata import go_type
from setpoint.cluster.server.schema import Json

from .types import PatchType

_READ_THEMSELVES = {
    "Time": "string",
    "MicroTime": "string",
    "IntOrString": "int32",
    "Quantity": "",
    "FieldsV1": "",
    "RawExtension": "",
    "JSON": "",
    "JSONSchemaPropsOrArray": "",
    "JSONSchemaPropsOrBool": "",
    "JSONSchemaPropsOrStringArray": "",
}
"""Structs that Go reads from JSON by code of their own, and the type that a value must have. What else they ask is not asked here."""
_KINDS = {bool: "bool", int: "int64", float: "float64", str: "string", list: "slice", dict: "map"}


def misfit(type: PatchType, value: Json) -> str | None:
    """The first thing in a value that does not fit its type, None if there is none. Null fits everywhere."""
    return next(_misfits(type, value), None)


def _misfits(type: PatchType, value: Json) -> Iterator[str]:
    if value is None:
        return
    if type.name in _READ_THEMSELVES:
        wanted = _READ_THEMSELVES[type.name]
        if wanted and not isinstance(value, str) and (wanted == "string" or not isinstance(value, int) or isinstance(value, bool)):
            yield f"json: cannot unmarshal {go_type(value)} into Go value of type {wanted}"
        if type.name == "JSONSchemaPropsOrBool" and not isinstance(value, bool | dict):
            yield "boolean or JSON schema expected"
        return
    match type.kind:
        case "struct":
            if not isinstance(value, dict):
                yield f"cannot restore struct from: {_kind(value)}"
                return
            for name, item in value.items():
                if name in type.fields:
                    yield from _misfits(type.fields[name].type, item)
        case "map":
            if not isinstance(value, dict):
                yield f"cannot restore map from {_kind(value)}"
                return
            for item in value.values():
                yield from _misfits(type.element, item)
        case "slice":
            if isinstance(value, str) and type.format == "byte":
                return
            if not isinstance(value, list):
                yield f"cannot restore slice from {_kind(value)}"
                return
            for item in value:
                yield from _misfits(type.element, item)
        case kind:
            yield from _scalar(kind, value)


def _scalar(kind: str, value: Json) -> Iterator[str]:
    given = _kind(value)
    number = given in ("int64", "float64")
    match kind:
        case "string" | "bool":
            if given == "int64" and kind == "string":
                yield "cannot convert int64 to string"
            elif given != kind:
                yield f"unrecognized type: {kind}"
        case "float64":
            if not number:
                yield f"unrecognized type: {kind}"
        case _:
            if not number:
                yield f"unrecognized type: {kind}"
            elif given == "float64":
                yield f"cannot convert float64 to {kind}"


def _kind(value: Json) -> str:
    return _KINDS[type(value)]
