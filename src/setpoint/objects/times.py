"""Times as the API has them: RFC 3339, UTC, whole seconds; or, for leases and events, always six digits of microseconds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Self

import msgspec


class MicroTime(datetime):
    """A time with microseconds, as in ``Lease.spec.renewTime``: sent with exactly six digits, which the API server insists on."""

    @classmethod
    def of(cls, time: datetime) -> Self:
        """The same instant. Raises `ValueError` for a naive time."""
        utc = in_utc(time)
        return cls(utc.year, utc.month, utc.day, utc.hour, utc.minute, utc.second, utc.microsecond, UTC)

    @classmethod
    def parse(cls, text: str) -> Self:
        """From RFC 3339, of any precision. Raises `ValueError` for anything else."""
        try:
            return cls.of(msgspec.convert(text, datetime))
        except msgspec.ValidationError as error:
            raise ValueError(f"not a time in RFC 3339: {text!r}") from error

    def __str__(self) -> str:
        return _written(in_utc(self), "microseconds")


def in_utc(time: datetime) -> datetime:
    """The same instant in UTC. Raises `ValueError` for a naive time: it could be any of forty; and for one outside the years 1 to 9999."""
    if time.tzinfo is None:
        raise ValueError(f"the time {time} has no time zone: use an aware datetime, such as ctx.now()")
    try:
        return time.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"the time {time.isoformat()} is out of range in UTC") from error


def whole_seconds(time: datetime) -> datetime:
    """The time as the API keeps it. Raises `ValueError` for a naive time."""
    return in_utc(time).replace(microsecond=0)


def format_time(time: datetime) -> str:
    """``2026-01-31T12:00:00Z``. Raises `ValueError` for a naive time."""
    return _written(in_utc(time), "seconds")


def _written(utc: datetime, precision: str) -> str:
    # Not by strftime, which writes the year 1, Go's zero time, as one digit.
    return datetime.isoformat(utc.replace(tzinfo=None), timespec=precision) + "Z"
