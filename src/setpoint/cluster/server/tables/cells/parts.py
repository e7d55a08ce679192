"""What the cells of many kinds are made of: a field, a list cut short, a selector, the containers of a template."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias

from setpoint.cluster.server.tables.tables import Object, age

Cells: TypeAlias = Callable[[Object, datetime], list[Any]]
"""What stands in the columns of one object at a moment."""

NONE = "<none>"
UNSET = "<unset>"
UNKNOWN = "<unknown>"


def name_of(obj: Object) -> str:
    """The object's name."""
    name: str = obj["metadata"].get("name", "")
    return name


def part(obj: Mapping[str, Any], *path: str) -> Any:
    """What lies at the end of a path of fields, None where one of them is missing."""
    value: Any = obj
    for key in path:
        value = (value or {}).get(key)
    return value


def named(obj: Object, now: datetime) -> list[Any]:
    """Name and age."""
    return [name_of(obj), age(obj, now)]


def created(obj: Object, now: datetime) -> list[Any]:
    """Name and time of creation."""
    return [name_of(obj), created_at(obj)]


def created_at(obj: Object) -> str:
    """When it was created."""
    time: str = obj["metadata"].get("creationTimestamp") or "0001-01-01T00:00:00Z"
    return time


def at_most(texts: Sequence[str], limit: int, separator: str = ",") -> str:
    """The first of them, and how many more there are."""
    shown = separator.join(texts[:limit])
    return f"{shown} + {len(texts) - limit} more..." if len(texts) > limit else shown


def labels(values: Mapping[str, str] | None) -> str:
    """Labels, sorted."""
    return ",".join(f"{key}={value}" for key, value in sorted((values or {}).items())) or NONE


def selector(value: Mapping[str, Any] | None, empty: str = NONE) -> str:
    """A label selector as text."""
    found = value or {}
    terms = [(key, f"{key}={wanted}") for key, wanted in sorted((found.get("matchLabels") or {}).items())]
    terms += [(rule["key"], _expression(rule)) for rule in found.get("matchExpressions") or ()]
    return ",".join(text for _, text in sorted(terms, key=lambda term: term[0])) or empty


def _expression(rule: Mapping[str, Any]) -> str:
    values = ",".join(sorted(rule.get("values") or ()))
    match rule["operator"]:
        case "Exists":
            return str(rule["key"])
        case "DoesNotExist":
            return f"!{rule['key']}"
        case operator:
            return f"{rule['key']} {operator.lower()} ({values})"


def containers(template: Mapping[str, Any] | None) -> list[str]:
    """The names and the images of a pod template's containers."""
    found: Sequence[Mapping[str, Any]] = part(template or {}, "spec", "containers") or ()
    names = ",".join(container.get("name") or "" for container in found)
    return [names, ",".join(container.get("image") or "" for container in found)]


def condition(obj: Object, kind: str) -> str:
    """The status of a condition, empty where there is none of this kind."""
    found = (c.get("status") or "" for c in part(obj, "status", "conditions") or () if c.get("type") == kind)
    return next(found, "")
