"""Defaulting: nulls that no schema allows go away, and values that were left out are filled in.

Follows https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#defaulting-and-nullable.
"""

from __future__ import annotations

from copy import deepcopy

from setpoint.cluster.server.schema.structural import Json, Structural


def drop_nulls(obj: dict[str, Json], schema: Structural) -> dict[str, Json]:
    """`obj` without the nulls of fields that are neither nullable nor have a default.

    A null that has a default stays for `apply_defaults` to replace; one in a list stays for validation to refuse; one in a field that the
    schema does not know stays. The argument is left as it is.
    """
    result = _without_nulls(obj, schema)
    assert isinstance(result, dict)
    return result


def apply_defaults(obj: dict[str, Json], schema: Structural) -> dict[str, Json]:
    """`obj` with defaults filled in, outermost first, so that a default may itself be completed by defaults further in.

    A null counts as left out unless the field is nullable. The argument is left as it is.
    """
    result = _defaulted(obj, schema)
    assert isinstance(result, dict)
    return result


def _without_nulls(value: Json, node: Structural) -> Json:
    result = value
    if type(value) is dict:
        for key, item in value.items():
            child = node.properties.get(key) or node.additional
            if child is None:
                continue
            if item is None:
                if not child.nullable and child.default is None:
                    if result is value:
                        result = dict(value)
                    del result[key]
            elif type(item) is dict or type(item) is list:
                kept = _without_nulls(item, child)
                if kept is not item:
                    if result is value:
                        result = dict(value)
                    result[key] = kept
    elif type(value) is list and node.items is not None:
        child = node.items
        for index, item in enumerate(value):
            if type(item) is dict or type(item) is list:
                kept = _without_nulls(item, child)
                if kept is not item:
                    if result is value:
                        result = list(value)
                    result[index] = kept
    return result


def _defaulted(value: Json, node: Structural) -> Json:
    if not node.has_defaults:
        return value
    result = value
    if type(value) is dict:
        for key, child in node.properties.items():
            present = value.get(key, _ABSENT)
            if child.default is not None and (present is _ABSENT or (present is None and not child.nullable)):
                filled = _defaulted(deepcopy(child.default), child)
            elif type(present) is dict or type(present) is list:
                filled = _defaulted(present, child)
            else:
                continue
            if filled is not present:
                if result is value:
                    result = dict(value)
                result[key] = filled
        if node.additional is not None:
            for key, item in value.items():
                if key not in node.properties:
                    filled = _defaulted_entry(item, node.additional)
                    if filled is not item:
                        if result is value:
                            result = dict(value)
                        result[key] = filled
    elif type(value) is list and node.items is not None:
        for index, item in enumerate(value):
            filled = _defaulted_entry(item, node.items)
            if filled is not item:
                if result is value:
                    result = list(value)
                result[index] = filled
    return result


def _defaulted_entry(item: Json, node: Structural) -> Json:
    if item is None and not node.nullable and node.default is not None:
        item = deepcopy(node.default)
    return _defaulted(item, node)


_ABSENT = object()
