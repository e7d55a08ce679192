"""Conditions of built-in kinds, each of which has a class of its own for them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Protocol, TypeVar

import msgspec

from setpoint.objects import whole_seconds


class ConditionLike(Protocol):
    """What the condition classes have in common."""

    last_transition_time: datetime | None

    @property
    def type(self) -> str | None: ...
    @property
    def status(self) -> str | None: ...


C = TypeVar("C", bound=ConditionLike)


def put_condition(conditions: list[C], new: C, now: datetime, *, update_time: bool = False) -> None:
    """Puts a condition in the place of the one of its type. Its times move with its status, `last_update_time` with anything in it."""
    stamp = whole_seconds(now)
    place = next((place for place, old in enumerate(conditions) if old.type == new.type), None)
    old = None if place is None else conditions[place]
    new.last_transition_time = stamp if old is None or old.status != new.status else old.last_transition_time
    if update_time:
        _set_update_time(new, old, stamp)
    if place is None:
        conditions.append(new)
    else:
        conditions[place] = new


def without_condition(conditions: list[C], type: str) -> list[C]:
    """The others."""
    return [condition for condition in conditions if condition.type != type]


def _set_update_time(new: Any, old: Any, stamp: datetime) -> None:
    new.last_update_time = stamp
    if old is not None and msgspec.structs.replace(old, last_update_time=stamp) == new:
        new.last_update_time = old.last_update_time
