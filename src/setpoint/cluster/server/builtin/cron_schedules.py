"""Whether the schedule and the time zone of a CronJob can be read, in the words of the server's parser.

https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#schedule-syntax
"""

from __future__ import annotations

import re
from functools import lru_cache
from zoneinfo import ZoneInfo

from setpoint.cluster.server.schema.gotext import quote

_MONTHS = {
    name: number for number, name in enumerate(["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], 1)
}
_DAYS = {name: number for number, name in enumerate(["sun", "mon", "tue", "wed", "thu", "fri", "sat"])}
_FIELDS: tuple[tuple[int, int, dict[str, int]], ...] = ((0, 59, {}), (0, 23, {}), (1, 31, {}), (1, 12, _MONTHS), (0, 6, _DAYS))
_NAMED = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
_EVERY = "@every "
_DURATION = re.compile(r"[+-]?(0|((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)", re.ASCII)
_ZONE_PART = re.compile(r"[A-Za-z.\-_0-9+]{1,14}", re.ASCII)


class _Unreadable(Exception):
    """Its text is what the server says."""


def schedule_problem(schedule: str) -> str:
    """What is wrong with a schedule of five fields or a ``@`` name, or nothing. A zone in front of it is for others to refuse."""
    try:
        _read(schedule)
    except _Unreadable as why:
        return str(why)
    return ""


def _read(schedule: str) -> None:
    if schedule.startswith(("TZ=", "CRON_TZ=")):
        zone, space, schedule = schedule.partition(" ")
        if not space:
            raise _Unreadable("invalid schedule format: runtime error: slice bounds out of range [:-1]")
        name = zone.partition("=")[2]
        if problem := zone_unknown(name):
            raise _Unreadable(f"provided bad location {name}: {problem}")
        schedule = schedule.strip()
    if schedule.startswith("@"):
        if schedule.startswith(_EVERY):
            text = schedule.removeprefix(_EVERY)
            if not _DURATION.fullmatch(text):
                raise _Unreadable(f"failed to parse duration {schedule}: time: invalid duration {quote(text)}")
        elif schedule not in _NAMED:
            raise _Unreadable(f"unrecognized descriptor: {schedule}")
        return
    fields = schedule.split()
    if len(fields) != len(_FIELDS):
        raise _Unreadable(f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]")
    for field, (low, high, names) in zip(fields, _FIELDS, strict=True):
        for part in filter(None, field.split(",")):
            _range(part, low, high, names)


def _range(text: str, low: int, high: int, names: dict[str, int]) -> None:
    parts = text.split("/")
    ends = parts[0].split("-")
    if ends[0] in ("*", "?"):
        start, end = low, high
    else:
        start = end = _number(ends[0], names)
        if len(ends) == 2:
            end = _number(ends[1], names)
        elif len(ends) > 2:
            raise _Unreadable(f"too many hyphens: {text}")
    step = 1
    if len(parts) == 2:
        step = _number(parts[1], {})
        if len(ends) == 1:
            end = high
    elif len(parts) > 2:
        raise _Unreadable(f"too many slashes: {text}")
    if start < low:
        raise _Unreadable(f"beginning of range ({start}) below minimum ({low}): {text}")
    if end > high:
        raise _Unreadable(f"end of range ({end}) above maximum ({high}): {text}")
    if start > end:
        raise _Unreadable(f"beginning of range ({start}) beyond end of range ({end}): {text}")
    if step == 0:
        raise _Unreadable(f"step of range should be a positive number: {text}")


def _number(text: str, names: dict[str, int]) -> int:
    if text.lower() in names:
        return names[text.lower()]
    if not re.fullmatch(r"[+-]?\d+", text, re.ASCII):
        raise _Unreadable(f"failed to parse int from {text}: strconv.Atoi: parsing {quote(text)}: invalid syntax")
    number = int(text)
    if number < 0:
        raise _Unreadable(f"negative number ({number}) not allowed: {text}")
    return number


def zone_problems(zone: str) -> list[str]:
    """What is wrong with the name of a time zone."""
    if not zone:
        return ["timeZone must be nil or non-empty string"]
    for part in zone.split("/"):
        if part in (".", "..") or part.startswith("-") or not _ZONE_PART.fullmatch(part):
            return [f"unknown time zone {zone}"]
    if zone.lower() == "local":
        explicit = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        return [explicit] if zone == "Local" else [explicit, f"unknown time zone {zone}"]
    return [problem] if (problem := zone_unknown(zone)) else []


def zone_unknown(zone: str) -> str:
    """Says of a time zone that there is none of that name; nothing where this machine knows of no time zones at all."""
    known = zone in ("", "UTC", "Local") or _exists(zone) or not _exists("Etc/UTC")
    return "" if known else f"unknown time zone {zone}"


@lru_cache(maxsize=256)
def _exists(zone: str) -> bool:
    try:
        ZoneInfo(zone)
    except (LookupError, ValueError, OSError):
        return False
    return True
