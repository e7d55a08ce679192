"""Tables: objects as `kubectl get` shows them, and objects reduced to their metadata.

Follows https://kubernetes.io/docs/reference/using-api/api-concepts/#receiving-resources-as-tables. What columns a kind has is told by
`custom_columns`, `table_cells.builtin_columns` or `GENERIC`; `table` does the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Literal, TypeAlias

from setpoint.cluster.server.crd.definitions import CustomKind, PrinterColumn
from setpoint.cluster.server.schema.gotext import as_json, number
from setpoint.cluster.server.tables.durations import since
from setpoint.cluster.server.tables.jsonpath import JsonPath, JsonPathError, compile_path

Object = Mapping[str, Any]
IncludeObject = Literal["", "None", "Metadata", "Object"]
MetaVersion = Literal["v1", "v1beta1"]
Alone: TypeAlias = Callable[[Object], Object]
"""What makes of an object's metadata what is shown of them where they are all that is shown."""

_NAME = "The name of the object, unique in its namespace."
_AGE = "The time since the object was created."


@dataclass(frozen=True, slots=True)
class Column:
    """The heading of a column. `priority` above 0 means: only in wide output."""

    name: str
    type: str = "string"
    format: str = ""
    description: str = ""
    priority: int = 0

    def definition(self) -> dict[str, Any]:
        """As in `columnDefinitions`."""
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": self.description,
            "priority": self.priority,
        }


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a kind, and what stands in them for one object at a moment."""

    headings: tuple[Column, ...]
    cells: Callable[[Object, datetime], list[Any]]
    conditions: Callable[[Object], list[dict[str, str]]] = lambda obj: []
    """Conditions of the row itself, such as that a pod has completed."""


NAME = Column("Name", format="name", description=_NAME)
AGE = Column("Age", description=_AGE)


def as_it_is(metadata: Object) -> Object:
    """Metadata as they are."""
    return metadata


def age(obj: Object, now: datetime) -> str:
    """How long ago the object was created."""
    return since(obj["metadata"].get("creationTimestamp"), now)


GENERIC = Columns((NAME, AGE), lambda obj, now: [obj["metadata"].get("name", ""), age(obj, now)])
"""Name and age: for kinds that have no columns of their own."""


def custom_columns(kind: CustomKind) -> Columns:
    """The name and the printer columns of a custom kind, or its name and age if it has none."""
    headings = [NAME]
    paths: list[tuple[JsonPath, str]] = []
    for column in kind.columns or _DEFAULT:
        try:
            path = compile_path(column.json_path)
        except JsonPathError:
            break  # the real server, too, drops a column that it cannot read, and those after it
        described = column.description or f"Custom resource definition column (in JSONPath format): {column.json_path}"
        headings.append(Column(column.name, column.type, column.format, described, column.priority))
        paths.append((path, column.type))
    return Columns(tuple(headings), partial(_custom_cells, tuple(paths)))


_DEFAULT = (PrinterColumn("Age", "date", ".metadata.creationTimestamp", description=_AGE),)


def _custom_cells(paths: tuple[tuple[JsonPath, str], ...], obj: Object, now: datetime) -> list[Any]:
    return [obj["metadata"].get("name", ""), *(_cell(path.first(obj, _MISSING), kind, now) for path, kind in paths)]


_MISSING = object()


def _cell(value: Any, kind: str, now: datetime) -> Any:
    if value is _MISSING:
        return None
    match kind, value:
        case "string", _:
            return _text(value)
        case ("boolean", bool()) | ("integer", int()) | ("number", int() | float()) if (kind == "boolean") == isinstance(value, bool):
            return value
        case "integer", float():
            return int(value) if abs(value) < 2**63 else -(2**63)  # as the conversion of the real server overflows
        case "date", str():
            return since(value if value != "null" else None, now)
    return None


def _text(value: Any) -> str:
    match value:
        case None:
            return "<no value>"
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float():
            return number(value)
    return as_json(value)


def table(
    columns: Columns,
    objects: Iterable[Object],
    list_metadata: Mapping[str, Any],
    include_object: IncludeObject,
    now: datetime,
    *,
    told: Iterable[Object] | None = None,
    alone: Alone = as_it_is,
    with_definitions: bool = True,
    version: MetaVersion = "v1",
) -> dict[str, Any]:
    """A `Table` of these objects.

    `list_metadata` is the list's (resourceVersion, continue, remainingItemCount) or, for a single object, its resourceVersion.
    `include_object` is the query parameter of that name; left out or empty, rows carry the objects' metadata. In a watch only the first
    event carries the definitions of the columns. `told` are the objects of which the cells tell, where these are others. `alone` makes of
    metadata what is shown where they are all that is shown.
    """
    others = iter(told or ())
    shown = _shower(include_object, version, alone)
    kept = {key: list_metadata[key] for key in ("resourceVersion", "continue", "remainingItemCount") if list_metadata.get(key)}
    return {
        "kind": "Table",
        "apiVersion": f"meta.k8s.io/{version}",
        "metadata": kept,
        "columnDefinitions": [heading.definition() for heading in columns.headings] if with_definitions else None,
        "rows": [_row(columns, obj, obj if told is None else next(others), now, shown) for obj in objects],
    }


def _shower(include_object: IncludeObject, version: MetaVersion, alone: Alone) -> Callable[[Object], Object | None]:
    match include_object:
        case "None":
            return lambda obj: None
        case "Object":
            return lambda obj: obj
        case _:
            return lambda obj: partial_metadata(obj, version, alone)


def _row(columns: Columns, obj: Object, told: Object, now: datetime, shown: Callable[[Object], Object | None]) -> dict[str, Any]:
    row: dict[str, Any] = {"cells": columns.cells(told, now)}
    if conditions := columns.conditions(obj):
        row["conditions"] = conditions
    row["object"] = shown(obj)
    return row


def partial_metadata(obj: Object, version: MetaVersion = "v1", alone: Alone = as_it_is) -> dict[str, Any]:
    """The object as a `PartialObjectMetadata`: its metadata alone."""
    return {"kind": "PartialObjectMetadata", "apiVersion": f"meta.k8s.io/{version}", "metadata": alone(obj["metadata"])}


def partial_metadata_list(
    objects: Iterable[Object], list_metadata: Mapping[str, Any], version: MetaVersion = "v1", alone: Alone = as_it_is
) -> dict[str, Any]:
    """The objects as a `PartialObjectMetadataList`, with the metadata of their list."""
    return {
        "kind": "PartialObjectMetadataList",
        "apiVersion": f"meta.k8s.io/{version}",
        "metadata": {key: value for key, value in list_metadata.items() if value != ""},
        "items": [partial_metadata(obj, version, alone) for obj in objects] or None,  # an empty list of Go's is null
    }
