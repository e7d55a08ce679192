"""The head of a state, where there is one: what tells an object's versions apart."""

from __future__ import annotations

import msgspec

from setpoint.objects import DecodeError, decode_head
from setpoint.objects.head import Head


def head_of(data: bytes | None) -> Head | None:
    """The head of an object; None where there is none."""
    if not data:
        return None
    try:
        return decode_head(data)
    except (DecodeError, msgspec.DecodeError, RecursionError):
        return None  # an answer that is no object, such as a Status
