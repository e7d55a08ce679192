"""Changing objects, and saying a change as each sort of request says it."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from .steps import Edit, Json


def laid(base: Json, change: Json) -> Json:
    """A map with another laid over it; lists are replaced."""
    if not isinstance(base, dict) or not isinstance(change, dict):
        return copy.deepcopy(change)
    return {**base, **{key: laid(base.get(key), value) if key in base else copy.deepcopy(value) for key, value in change.items()}}


def edits_of(change: Json, path: tuple[str | int, ...] = ()) -> list[Edit]:
    if isinstance(change, dict) and change:
        return [edit for key, value in change.items() for edit in edits_of(value, (*path, key))]
    return [Edit(path, change)] if path else []


def operations_of(live: Json, change: Json, path: tuple[str | int, ...] = ()) -> list[Json]:
    """A JSON patch that lays a change over a live object."""
    found: list[Json] = []
    for key, value in change.items():
        here = (*path, key)
        inner = live.get(key) if isinstance(live, dict) else None
        if isinstance(value, dict) and isinstance(inner, dict) and inner:
            found += operations_of(inner, value, here)
        else:
            found.append({"op": "add" if inner is None else "replace", "path": pointer(here), "value": value})
    return found


def pointer(path: Sequence[str | int]) -> str:
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def nested(path: Sequence[str | int], value: Json) -> Json:
    for key in reversed(path):
        value = {key: value}
    return value


def value_at(value: Json, path: Sequence[str | int]) -> Json:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value
