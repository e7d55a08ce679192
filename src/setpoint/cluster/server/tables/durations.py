"""Ages and other spans of time, as kubectl prints them."""

from __future__ import annotations

from datetime import datetime, timedelta

_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86400, 365 * 86400


def human_duration(span: timedelta) -> str:
    """A span in its one or two largest units: `45s`, `5m30s`, `7h5m`, `2d3h`, `400d`, `3y20d`.

    The longer, the coarser. A span below zero is `<invalid>`, but clocks may differ by a second.
    """
    # Whole seconds, towards zero.
    seconds = int(span.total_seconds())
    if seconds < -1:
        return "<invalid>"
    if seconds < 0:
        return "0s"
    if seconds < 2 * _MINUTE:
        return f"{seconds}s"
    if seconds < 10 * _MINUTE:
        return _two(seconds, _MINUTE, "m", 1, "s")
    if seconds < 3 * _HOUR:
        return f"{seconds // _MINUTE}m"
    if seconds < 8 * _HOUR:
        return _two(seconds, _HOUR, "h", _MINUTE, "m")
    if seconds < 2 * _DAY:
        return f"{seconds // _HOUR}h"
    if seconds < 8 * _DAY:
        return _two(seconds, _DAY, "d", _HOUR, "h")
    if seconds < 2 * _YEAR:
        return f"{seconds // _DAY}d"
    if seconds < 8 * _YEAR:
        return _two(seconds, _YEAR, "y", _DAY, "d")
    return f"{seconds // _YEAR}y"


def _two(seconds: int, unit: int, name: str, minor: int, minor_name: str) -> str:
    rest = seconds % unit // minor
    return f"{seconds // unit}{name}{rest}{minor_name}" if rest else f"{seconds // unit}{name}"


def since(timestamp: str | None, now: datetime) -> str:
    """How long ago an RFC 3339 time was: `<unknown>` if there is none, `<invalid>` if it is no time or lies in the future."""
    if not timestamp:
        return "<unknown>"
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return "<invalid>"
    if moment.tzinfo is None:
        return "<invalid>"
    return human_duration(now - moment)
