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
_QUANTITIES = ("sizeLimit", "divisor", "tolerance", "averageValue", "maximumVolumeSize")
_METRICS = ("target", "current")
"""What of an autoscaler has a quantity for its `value`; elsewhere, as in the environment of a container, that is a text."""


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values say the same."""
    return _same("", one, other)


def _same(name: str, one: Any, other: Any) -> bool:
    """The same, of what stands in a field of this name, or in a list there."""
    if one == other and type(one) is type(other):
        return True
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        if name in _QUANTITY_MAPS:
            return one.keys() == other.keys() and all(_same_amount(one[key], other[key]) for key in one)
        return all(_same_field(name, key, one.get(key), other.get(key)) for key in {**one, **other})
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(_same(name, *pair) for pair in zip(one, other, strict=True))
    return _is_empty(one) and _is_empty(other)


def _same_field(holder: str, name: str, one: Any, other: Any) -> bool:
    if one == other:
        return True
    if isinstance(one, str) and isinstance(other, str):
        return (name in _QUANTITIES or (name == "value" and holder in _METRICS)) and _same_amount(one, other)
    return _same(name, one, other)


def _same_amount(one: Any, other: Any) -> bool:
    if isinstance(one, Mapping) and isinstance(other, Mapping):  # a device's capacity: a quantity, and how it may be shared
        return _same_amount(one.get("value"), other.get("value")) and same({**one, "value": None}, {**other, "value": None})
    try:
        return Quantity(one) == Quantity(other)
    except ValueError:
        return False


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, (list, dict)) and not value)
