"""Validation of a change: what was wrong before, and has been left as it was, is not held against it.

So an object that a stricter schema no longer accepts can still be labelled, finished and deleted, and repaired bit by bit.

Follows https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-ratcheting.
"""

from __future__ import annotations

from setpoint.cluster.server.schema.causes import FieldError
from setpoint.cluster.server.schema.embedded import embedded_errors
from setpoint.cluster.server.schema.lists import list_errors
from setpoint.cluster.server.schema.structural import Json, Structural
from setpoint.cluster.server.schema.validate import validate
from setpoint.cluster.server.structured.values import same


def validate_change(obj: Json, old: Json, schema: Structural) -> list[FieldError]:
    """Everything about `obj` that `schema` refuses, but for what `old` has just so.

    A field, an entry of a map and an item of a list that is a map are compared with what they were; what is below any other list with the
    list as a whole. Duplicates are a matter of the whole object: if it had some, it may have them.
    """
    errors = validate(obj, schema)
    if not errors:
        return errors
    # What makes a resource of what is embedded is asked of it each time.
    embedded = embedded_errors(obj, schema)
    duplicates = list_errors(obj, schema)
    if duplicates and list_errors(old, schema):
        errors = [error for error in errors if error not in duplicates]
    return [error for error in errors if error in duplicates or error in embedded or not _unchanged(error.field, obj, old, schema)]


def _unchanged(path: str, new: Json, old: Json, node: Structural | None) -> bool:
    """Whether what is at the path is what it was. Where the path names nothing, as that of a missing field, it is about what lacks it."""
    while path:
        if type(new) is dict and type(old) is dict:
            key = max((key for key in new if path == key or path.startswith((f"{key}.", f"{key}["))), key=len, default=None)
            if key is None:
                break
            if key not in old:
                return False
            new, old, path = new[key], old[key], path[len(key) :].removeprefix(".")
            node = (node.properties.get(key) or node.additional) if node is not None else None
        elif type(new) is list and type(old) is list and node is not None and node.list_type == "map" and path.startswith("["):
            index, _, path = path[1:].partition("]")
            item = new[int(index)]
            partners = [other for other in old if _keys(other, node) == _keys(item, node)]
            if len(partners) != 1 or None in _keys(item, node):
                return False
            new, old, path, node = item, partners[0], path.removeprefix("."), node.items
        else:
            break
    return same(new, old)


def _keys(item: Json, node: Structural) -> list[Json]:
    return [item.get(key) for key in node.map_keys] if type(item) is dict else []
