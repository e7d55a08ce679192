"""How long a request may take, as the real server has it: watches for ever, writes 34 seconds, all else a minute, or less where asked for.

https://kubernetes.io/docs/reference/command-line-tools-reference/kube-apiserver/ (--request-timeout)
"""

from __future__ import annotations

import re

from setpoint.api import ApiError, Operation
from setpoint.api.operation import WRITES
from setpoint.api.status import StatusDetails, bad_request, failure
from setpoint.cluster.server.schema.gotext import quote
from setpoint.objects.duration import Duration

LONGEST = 60.0
LONGEST_WRITE = 34.0
_OVERFLOW = 2**63
_NUMBER = re.compile(r"[0-9]+\.?[0-9]*|\.[0-9]+", re.ASCII)
_UNIT = re.compile(r"[^.0-9]*", re.ASCII)
_UNITS = ("ns", "us", "µs", "μs", "ms", "s", "m", "h")


def allowed_seconds(operation: Operation) -> float | None:
    """The seconds that a request may take, None for a watch. Raises `BadRequest` for a parameter `timeout` that is no duration."""
    if operation.verb == "watch":
        return None
    longest = LONGEST_WRITE if operation.verb in WRITES else LONGEST
    text = operation.options.get("timeout", "")
    if not text:
        return longest
    if problem := _problem(text):
        raise bad_request(f"invalid timeout specified in the request URL - time: {problem}")
    seconds = Duration(text).seconds
    return min(seconds, longest) if seconds > 0 else longest


def too_slow() -> ApiError:
    """504."""
    message = "Timeout: request did not complete within requested timeout - context deadline exceeded"
    return failure(504, "Timeout", message, StatusDetails())


def _problem(text: str) -> str:
    """What Go's `time.ParseDuration` says of a text, nothing if it is a duration."""
    invalid = f"invalid duration {quote(text)}"
    rest = text[1:] if text[0] in "+-" else text
    if rest == "0":
        return ""
    if not rest or len(text) > 100:
        return invalid
    while rest:
        number = _NUMBER.match(rest)
        if number is None:
            return invalid
        unit = _UNIT.match(rest, number.end())
        if unit is None or not unit[0]:
            return f"missing unit in duration {quote(text)}"
        if unit[0] not in _UNITS:
            return f"unknown unit {quote(unit[0])} in duration {quote(text)}"
        rest = rest[unit.end() :]
    return "" if abs(Duration(text).nanoseconds) < _OVERFLOW else invalid
