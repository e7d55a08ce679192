"""Numbers in objects: counts that are not negative, and counts that may also be percentages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from setpoint.cluster.server.schema.causes import FieldError, invalid

NOT_NEGATIVE = "must be greater than or equal to 0"
_PERCENT = re.compile("[0-9]+%", re.ASCII)
_PERCENT_TEXT = (
    "a valid percent string must be a numeric string followed by an ending '%' "
    "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
)


def not_negative(holder: Mapping[str, Any], name: str, at: str) -> Iterator[FieldError]:
    """The number ``name`` of what stands at the path ``at``, if it is there, is not below zero."""
    value = holder.get(name)
    if value is not None and value < 0:
        yield invalid(f"{at}.{name}" if at else name, value, NOT_NEGATIVE)


def all_not_negative(holder: Mapping[str, Any], fields: tuple[str, ...], at: str) -> Iterator[FieldError]:
    """Several numbers at once, in this order."""
    for name in fields:
        yield from not_negative(holder, name, at)


def at_most(holder: Mapping[str, Any], fields: tuple[str, ...], whole: str, at: str, shown: str = "") -> Iterator[FieldError]:
    """These numbers are not greater than the number ``whole`` beside them, which the message calls ``shown``."""
    for name in fields:
        if holder.get(name, 0) > holder.get(whole, 0):
            yield invalid(f"{at}.{name}", holder[name], f"cannot be greater than {shown or f'{at}.{whole}'}")


def not_decremented(new: Mapping[str, Any], old: Mapping[str, Any], name: str, at: str) -> Iterator[FieldError]:
    """A number that only grows; taking it away counts as zero."""
    if old.get(name) is not None and (new.get(name) or 0) < old[name]:
        yield invalid(f"{at}.{name}", new.get(name) or 0, "cannot be decremented")


def count_or_percent(value: object, at: str) -> Iterator[FieldError]:
    """What is wrong with a count or percentage."""
    if isinstance(value, str):
        if not _PERCENT.fullmatch(value):
            yield invalid(at, value, _PERCENT_TEXT)
    elif isinstance(value, int) and value < 0:
        yield invalid(at, value, NOT_NEGATIVE)


def at_most_all(value: object, at: str) -> Iterator[FieldError]:
    """A percentage is not more than 100."""
    if isinstance(value, str) and _PERCENT.fullmatch(value) and int(value[:-1]) > 100:
        yield invalid(at, value, "must not be greater than 100%")


def is_zero(value: object) -> bool:
    """Whether a count or percentage is none; so is, to the server, a text that is neither."""
    if not isinstance(value, str):
        return value == 0
    if _PERCENT.fullmatch(value):
        return int(value[:-1]) == 0
    return not re.fullmatch(r"[+-]?\d+", value, re.ASCII) or int(value) == 0
