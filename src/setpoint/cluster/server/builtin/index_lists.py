"""Lists of the indexes of a job's pods, such as ``0,3-5``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from setpoint.cluster.server.schema.gotext import quote

_NUMBER = re.compile(r"[+-]?\d+", re.ASCII)


class _Unreadable(Exception):
    """Its text is what the server says."""


def count_indexes(text: str, completions: int) -> tuple[int, str]:
    """How many indexes are in a list, all below ``completions``, and what is wrong with it, or nothing."""
    total, last = 0, None
    if not text:
        return 0, ""
    try:
        for interval in text.split(","):
            start, end = _interval(interval, completions)
            if last is not None and last >= start:
                return 0, f"non-increasing order, previous: {last}, current: {start}"
            total, last = total + end - start + 1, end
    except _Unreadable as why:
        return 0, str(why)
    return total, ""


def _interval(text: str, completions: int) -> tuple[int, int]:
    ends = text.split("-")
    if len(ends) > 2:
        rule = "violates the requirement that an index interval can have at most two parts separated by '-'"
        raise _Unreadable(f"the fragment {quote(text)} {rule}")
    start, end = _index(ends[0], completions), _index(ends[-1], completions)
    if len(ends) == 2 and start >= end:
        raise _Unreadable(f"non-increasing order, previous: {start}, current: {end}")
    return start, end


def _index(text: str, completions: int) -> int:
    if not _NUMBER.fullmatch(text):
        raise _Unreadable(f"cannot convert string to integer for index: {quote(text)}")
    if int(text) >= completions:
        raise _Unreadable(f"too large index: {quote(text)}")
    return int(text)


def first_common_index(completed: str, failed: str, completions: int) -> int | None:
    """The first index that is in two lists; what cannot be read is passed over."""
    ours, theirs = list(_readable(completed, completions)), list(_readable(failed, completions))
    at, other = 0, 0
    while at < len(ours) and other < len(theirs):
        (start, end), (begin, stop) = ours[at], theirs[other]
        if start <= stop and begin <= end:
            return max(start, begin)
        if start <= begin:
            at += 1
        else:
            other += 1
    return None


def _readable(text: str, completions: int) -> Iterator[tuple[int, int]]:
    for interval in filter(None, text.split(",")):
        try:
            yield _interval(interval, completions)
        except _Unreadable:
            continue
