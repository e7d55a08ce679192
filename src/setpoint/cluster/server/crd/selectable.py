"""Selectable fields: the fields of a custom kind by which lists and watches can be selected, and what a definition may name as such.

https://kubernetes.io/docs/concepts/overview/working-with-objects/field-selectors/#custom-resources-fields
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from setpoint.cluster.server.schema import FieldError, Json, causes

Schema = Mapping[str, Json]

LIMIT = 8
"""As many fields a version may have."""
_TYPES = ("boolean", "integer", "string")
_NOT_SCALAR = "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed."


class _PathError(Exception):
    pass


def selectable_errors(fields: Sequence[Mapping[str, Json]], schema: Schema | None, where: str) -> Iterator[FieldError]:
    """What is wrong with the selectable fields at `where`, of a version with this `openAPIV3Schema`."""
    if schema is None:
        yield causes.invalid(where, "", "may only be set when validations.schema is included")
        return
    seen: dict[str, None] = {}
    for index, field in enumerate(fields):
        at, path = f"{where}[{index}].jsonPath", field.get("jsonPath") or ""
        if not path:
            yield causes.required(at)
            continue
        try:
            node = _node(schema, path)
        except _PathError as error:
            yield causes.invalid(at, path, f"is an invalid path: {error}")
            continue
        if path.split(".")[1] == "metadata":
            yield causes.invalid(at, path, "must not point to fields in metadata")
        if node.get("type") not in _TYPES:
            yield causes.invalid(at, path, _NOT_SCALAR)
        if path in seen:
            yield causes.duplicate(at, path)
        seen[path] = None
    if len(seen) > LIMIT:
        yield causes.too_many(where, len(seen), LIMIT)


def selectable_paths(fields: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
    """The paths as a field selector names them: without the dot at the beginning."""
    return tuple(field["jsonPath"].removeprefix(".") for field in fields)


def _steps(path: str) -> Iterator[str]:
    """The names that a simple path goes through, up to where it is none."""
    rest = path
    while rest:
        if rest[0] == "[":
            raise _PathError("array notation is not allowed")
        if rest[0] != ".":
            raise _PathError(f"expected [ or . but got: {rest[0] if rest[0] == ']' else _name(rest, 0)}")
        step = _name(rest, 1)
        rest = rest[1 + len(step) :]
        if not step and not rest:
            raise _PathError("unexpected end of JSON path")
        yield step


def _name(path: str, start: int) -> str:
    return re.split(r"[.\[\]]", path[start:], maxsplit=1)[0]


def _node(schema: Schema, path: str) -> Schema:
    for step in _steps(path):
        properties = schema.get("properties") or {}
        found = properties.get(step, schema.get("additionalProperties"))
        if not isinstance(found, Mapping):
            raise _PathError("does not refer to a valid field")
        schema = found
    return schema
