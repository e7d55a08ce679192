"""Whether two objects say the same: as Go's semantic equality has it, empty is absent and quantities are compared by value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.objects import Quantity

_QUANTITY_MAPS = (
    "limits",
    "requests",
    "capacity",
    "allocatable",
    "allocatedResources",
    "overhead",
    "hard",
    "used",
    "default",
    "max",
    "min",
)
_QUANTITIES = ("sizeLimit", "divisor", "tolerance", "averageValue", "value", "maximumVolumeSize")


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values say the same."""
    if one == other and type(one) is type(other):
        return True
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return all(_same_field(key, one.get(key), other.get(key)) for key in {**one, **other})
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return _is_empty(one) and _is_empty(other)


def _same_field(key: str, one: Any, other: Any) -> bool:
    if one == other:
        return True
    if key in _QUANTITY_MAPS and isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same_amount(one[name], other[name]) for name in one)
    if key in _QUANTITIES and isinstance(one, str) and isinstance(other, str):
        return _same_amount(one, other)
    return same(one, other)


def _same_amount(one: Any, other: Any) -> bool:
    try:
        return Quantity(one) == Quantity(other)
    except ValueError:
        return False


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, (list, dict)) and not value)
