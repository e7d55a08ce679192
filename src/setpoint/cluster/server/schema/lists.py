"""Lists that are sets or maps: no two items may be equal, or have the same keys.

Follows https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy (`x-kubernetes-list-type`).
"""

from __future__ import annotations

from setpoint.cluster.server.schema import causes
from setpoint.cluster.server.schema.causes import FieldError
from setpoint.cluster.server.schema.gotext import as_json
from setpoint.cluster.server.schema.structural import Json, Structural


def list_errors(value: Json, node: Structural, path: str = "") -> list[FieldError]:
    """A duplicate for each item that repeats an earlier one (a third repetition is not reported again), at any depth."""
    errors: list[FieldError] = []
    _visit(value, node, path, errors)
    return errors


def _visit(value: Json, node: Structural, path: str, errors: list[FieldError]) -> None:
    if not node.has_list_rules:
        return
    if type(value) is dict:
        if node.additional is not None:
            for key, item in value.items():
                _visit(item, node.additional, f"{path}[{key}]", errors)
        for key, child in node.properties.items():
            if key in value:
                _visit(value[key], child, f"{path}.{key}" if path else key, errors)
    elif type(value) is list:
        if node.list_type == "set":
            errors += [causes.duplicate(f"{path}[{index}]", value[index]) for index in _repeated(value)]
        elif node.list_type == "map":
            errors += _map_errors(value, node.map_keys, path)
        if node.items is not None:
            for index, item in enumerate(value):
                _visit(item, node.items, f"{path}[{index}]", errors)


def _map_errors(value: list[Json], map_keys: tuple[str, ...], path: str) -> list[FieldError]:
    for index, item in enumerate(value):
        if item is not None and type(item) is not dict:
            return [causes.invalid(f"{path}[{index}]", item, "must be an object for an array of list-type map")]
    if len(map_keys) == 1:
        # Most maps have one key, of a scalar: then no text need be made of it.
        names = [item.get(map_keys[0]) if item is not None else None for item in value]
        if all(type(name) is str for name in names) and len(set(names)) == len(names):
            return []
    keys = [{key: item[key] for key in map_keys if key in item} if item is not None else {} for item in value]
    return [causes.duplicate(f"{path}[{index}]", keys[index]) for index in _repeated(keys)]


def _repeated(items: list[Json]) -> list[int]:
    seen: dict[str, int] = {}
    repeated = []
    for index, item in enumerate(items):
        text = as_json(item)
        seen[text] = seen.get(text, 0) + 1
        if seen[text] == 2:
            repeated.append(index)
    return repeated
