"""What Kubernetes knows of an object's metadata: the schema that every object shares, whatever its kind."""

from __future__ import annotations

from types import GenericAlias
from typing import Any

import msgspec

from setpoint.cluster.server.schema.formats import has_format
from setpoint.cluster.server.schema.structural import Json, Structural, compile_schema

_STRING = {"type": "string"}
_STRINGS = {"type": "object", "additionalProperties": _STRING}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


OBJECT_META_SCHEMA: dict[str, Any] = _object(
    annotations=_STRINGS,
    creationTimestamp={"type": "string", "format": "date-time", "nullable": True},
    deletionGracePeriodSeconds={"type": "integer", "format": "int64"},
    deletionTimestamp={"type": "string", "format": "date-time"},
    finalizers={"type": "array", "items": _STRING},
    generateName=_STRING,
    generation={"type": "integer", "format": "int64"},
    labels=_STRINGS,
    managedFields={
        "type": "array",
        "items": _object(
            apiVersion=_STRING,
            fieldsType=_STRING,
            fieldsV1={"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            manager=_STRING,
            operation=_STRING,
            subresource=_STRING,
            time={"type": "string", "format": "date-time"},
        ),
    },
    name=_STRING,
    namespace=_STRING,
    ownerReferences={
        "type": "array",
        "items": _object(
            apiVersion=_STRING,
            blockOwnerDeletion={"type": "boolean"},
            controller={"type": "boolean"},
            kind=_STRING,
            name=_STRING,
            uid=_STRING,
        ),
    },
    resourceVersion=_STRING,
    selfLink=_STRING,
    uid=_STRING,
)
"""The schema of `metadata`, without descriptions."""

OBJECT_META: Structural = compile_schema(OBJECT_META_SCHEMA)


def tidy_metadata(metadata: dict[str, Json]) -> dict[str, Json]:
    """`metadata` as the real server gives it back: without nulls, empty strings, zeros and empty lists and maps at its top level.

    Go leaves them out when it writes; so nobody can tell an empty label map from none. A null inside of one becomes what is empty there.
    """
    result = metadata if all(metadata.values()) else {key: value for key, value in metadata.items() if value or _is_said(key, value)}
    for name in ("labels", "annotations"):
        if None in (entries := result.get(name) or {}).values():
            result = {**result, name: {key: "" if value is None else value for key, value in entries.items()}}
    for name, empty in _EMPTY_ITEMS:
        if None in (items := result.get(name) or ()):
            result = {**result, name: [empty if item is None else item for item in items]}
    return result


def _is_said(key: str, value: Json) -> bool:
    """Whether a zero is more than nothing: Go has a pointer there."""
    return key == "deletionGracePeriodSeconds" and value == 0 and value is not None


_EMPTY_ITEMS: tuple[tuple[str, Json], ...] = (("finalizers", ""), ("ownerReferences", {}), ("managedFields", {}))


def metadata_problem(metadata: Json) -> str | None:
    """Why `metadata` cannot be read at all, in the words of Go's decoder, or None. The server answers 400 with it."""
    if type(metadata) is not dict:
        return None if metadata is None else f"json: cannot unmarshal {_json_type(metadata)} into Go value of type v1.ObjectMeta"
    if _can_be_read(metadata):
        return None
    for name, value in metadata.items():
        if (problem := _field_problem(name, value)) is not None:
            return problem
    return None


def _can_be_read(metadata: dict[str, Json]) -> bool:
    """Whether there is nothing to tell of, as is nearly always so: asked first, since it costs little."""
    try:
        read = msgspec.convert(metadata, _READABLE)
    except msgspec.ValidationError:
        return False
    times = [read.creationTimestamp, read.deletionTimestamp, *(entry.time for entry in read.managedFields or () if entry is not None)]
    return all(time is None or has_format(time, "date-time") for time in times)


def _readable(schema: dict[str, Any], name: str = "Read") -> Any:
    """What msgspec reads as the schema says; nulls are nothing."""
    match schema["type"]:
        case "object" if "properties" in schema:
            return msgspec.defstruct(name, [(key, _readable(node, key) | None, None) for key, node in schema["properties"].items()])
        case "object" if "additionalProperties" in schema:
            return dict[str, str | None]
        case "array":
            return GenericAlias(list, (_readable(schema["items"]) | None,))
    return _PYTHON_TYPES[schema["type"]]


_GO_TYPES = {
    "annotations": "map[string]string",
    "labels": "map[string]string",
    "finalizers": "[]string",
    "managedFields": "[]v1.ManagedFieldsEntry",
    "ownerReferences": "[]v1.OwnerReference",
    "generation": "int64",
    "deletionGracePeriodSeconds": "int64",
    "uid": "types.UID",
}
_OWNER_GO_TYPES = {"blockOwnerDeletion": "bool", "controller": "bool", "uid": "types.UID"}


def _field_problem(name: str, value: Json) -> str | None:
    node = OBJECT_META.properties.get(name)
    if node is None or value is None:
        return None
    if not _is_a(value, node.types[0]):
        return _mismatch(value, f"ObjectMeta.{name}", _GO_TYPES.get(name, "string"))
    if (problem := _time_problem(value, node)) is not None:
        return problem
    entries = value.values() if type(value) is dict else value if type(value) is list else ()
    for entry in entries:
        if name in ("labels", "annotations", "finalizers"):
            if entry is not None and type(entry) is not str:
                return _mismatch(entry, f"ObjectMeta.{name}", "string")
        elif type(entry) is not dict:
            if entry is not None:
                return _mismatch(entry, f"ObjectMeta.{name}", _GO_TYPES[name].removeprefix("[]"))
        elif node.items is not None:
            for key, item in entry.items():
                child = node.items.properties.get(key)
                if child is not None and item is not None and not _is_a(item, child.types[0]):
                    structure = "OwnerReference" if name == "ownerReferences" else "ManagedFieldsEntry"
                    return _mismatch(item, f"ObjectMeta.{name}.{key}", _OWNER_GO_TYPES.get(key, "string"), structure)
                if child is not None and item is not None and (problem := _time_problem(item, child)) is not None:
                    return problem
    return None


def _time_problem(value: Json, node: Structural) -> str | None:
    if node.format != "date-time" or has_format(value, "date-time"):
        return None
    return f'parsing time "{value}" as "2006-01-02T15:04:05Z07:00": cannot parse "{value}" as "2006"'


def _mismatch(value: Json, path: str, wanted: str, structure: str = "ObjectMeta") -> str:
    return f"json: cannot unmarshal {_json_type(value)} into Go struct field {path.replace('ObjectMeta', structure, 1)} of type {wanted}"


def _json_type(value: Json) -> str:
    return "bool" if isinstance(value, bool) else _JSON_NAMES[type(value)]


_JSON_NAMES: dict[type, str] = {str: "string", int: "number", float: "number", dict: "object", list: "array"}
_PYTHON_TYPES: dict[str, type] = {"string": str, "integer": int, "boolean": bool, "object": dict, "array": list}

_READABLE = _readable(OBJECT_META_SCHEMA)


def _is_a(value: Json, json_type: str) -> bool:
    return type(value) is _PYTHON_TYPES[json_type]
