"""`Duration`: a length of time as the API writes it, such as ``1h30m`` or ``250ms``."""

from __future__ import annotations

import re
from datetime import timedelta
from fractions import Fraction
from functools import lru_cache
from typing import Any

_NANOSECONDS = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_PART = r"(\d{1,999}\.?\d{0,999}|\.\d{1,999})(ns|us|µs|μs|ms|s|m|h)"
_FORM = re.compile(rf"[+-]?(?:0|(?:{_PART})+)", re.ASCII)
_PARTS = re.compile(_PART)


class Duration(str):
    """A length of time: text as it was given, equal and ordered by how long it is.

    ``Duration("90m") == Duration("1h30m")``, also when compared with plain text or a `timedelta`. It is made of text, of a `timedelta`, or
    of seconds. Raises `ValueError` for text of another form. Follows ``metav1.Duration`` of the Kubernetes API, whose form is that of Go's
    ``time.ParseDuration``. As a key of a dictionary, do not mix it with plain text.
    """

    __slots__ = ()

    def __new__(cls, length: str | timedelta | int | float | Duration) -> Duration:
        text = str.__str__(length) if isinstance(length, str) else _written(length)
        if not _FORM.fullmatch(text):
            raise ValueError(f'not a duration: {text!r}; write numbers with units, such as "1h30m", "45s" or "250ms"')
        return super().__new__(cls, text)

    @property
    def nanoseconds(self) -> Fraction:
        """How long it is, exactly."""
        return _parsed(str.__str__(self))

    @property
    def seconds(self) -> float:
        """How long it is, in seconds."""
        return float(self.nanoseconds / 10**9)

    def to_timedelta(self) -> timedelta:
        """The same as a `timedelta`, to the microsecond."""
        return timedelta(microseconds=round(self.nanoseconds / 1000))

    def __eq__(self, other: object) -> bool:
        length = _length(other)
        return str.__eq__(self, other) is True if length is None else self.nanoseconds == length

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: Any) -> bool:
        length = _length(other)
        if length is None:
            return NotImplemented
        return self.nanoseconds < length

    # All four, since str has orders of its own.
    def __le__(self, other: Any) -> bool:
        length = _length(other)
        if length is None:
            return NotImplemented
        return self.nanoseconds <= length

    def __gt__(self, other: Any) -> bool:
        return not self <= other

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def __hash__(self) -> int:
        return hash(self.nanoseconds)

    def __repr__(self) -> str:
        return f"Duration({str.__str__(self)!r})"


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Fraction:
    length = sum((Fraction(number.rstrip(".")) * _NANOSECONDS[unit] for number, unit in _PARTS.findall(text)), Fraction(0))
    return -length if text.startswith("-") else length


def _written(length: timedelta | int | float) -> str:
    """As Go writes it: ``1h30m0s``, ``1.5s``, ``250ms``."""
    microseconds = round(length / timedelta(microseconds=1)) if isinstance(length, timedelta) else round(length * 10**6)
    sign, left = ("-" if microseconds < 0 else ""), abs(microseconds)
    if left < 10**6:
        return f"{sign}{left // 1000}ms" if left and left % 1000 == 0 else f"{sign}{left}us" if left else "0s"
    minutes, left = divmod(left, 60 * 10**6)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{left // 10**6}.{left % 10**6:06}".rstrip("0").rstrip(".")
    return sign + (f"{hours}h" if hours else "") + (f"{minutes}m" if hours or minutes else "") + f"{seconds}s"


def _length(value: object) -> Fraction | None:
    if isinstance(value, Duration):
        return value.nanoseconds
    if isinstance(value, str):
        return _parsed(value) if _FORM.fullmatch(value) else None
    return Fraction(round(value / timedelta(microseconds=1)) * 1000) if isinstance(value, timedelta) else None
