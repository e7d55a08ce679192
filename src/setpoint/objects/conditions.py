"""Conditions of an object's status: one entry for each type, whose time moves only when its status does."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, Protocol

from .metadata import ObjectMeta
from .resource import Condition
from .times import whole_seconds


class _Conditions(Protocol):
    conditions: list[Condition]


class HasConditions(Protocol):
    """An object whose status has ``conditions: list[Condition] = []``."""

    @property
    def metadata(self) -> ObjectMeta: ...
    @property
    def status(self) -> _Conditions: ...


ConditionStatus = Literal["True", "False", "Unknown"]


def get_condition(obj: HasConditions, type: str) -> Condition | None:
    """The condition of a type, None if the object has none."""
    return next((condition for condition in obj.status.conditions if condition.type == type), None)


def set_condition(
    obj: HasConditions,
    type: str,
    status: bool | ConditionStatus,
    *,
    reason: str,
    message: str = "",
    now: datetime,
    observed_generation: int | None = None,
) -> bool:
    """Sets one condition in place and tells whether that changed anything; the others, and their order, stay.

    `last_transition_time` becomes ``now`` only if the status is another than before. ``observed_generation`` is the object's own generation
    unless given. Raises `TypeError` if the class of the status has no conditions.
    """
    conditions: Any = getattr(obj.status, "conditions", None)
    if not isinstance(conditions, list):
        raise TypeError(f"{obj.status.__class__.__name__} has no conditions: give it the field `conditions: list[Condition] = []`")
    wanted: ConditionStatus = status if isinstance(status, str) else "True" if status else "False"
    old = get_condition(obj, type)
    moved = old is None or old.status != wanted or old.last_transition_time is None
    new = Condition(
        type=type,
        status=wanted,
        reason=reason,
        message=message,
        observed_generation=obj.metadata.generation if observed_generation is None else observed_generation,
        last_transition_time=whole_seconds(now) if moved or old is None else old.last_transition_time,
    )
    if old is None:
        conditions.append(new)
    elif old != new:
        conditions[next(place for place, condition in enumerate(conditions) if condition is old)] = new
    return old != new
