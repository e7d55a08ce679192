"""The moment at which a write leaves. The fence is asked right then, and not only when the transport is called.

Between the two a transport may have to open a connection, which takes a while; and the process may stand still in that while.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from setpoint.api import NotSent

_FENCE: ContextVar[Callable[[], str | None] | None] = ContextVar("setpoint_fence", default=None)


class HeldBack(NotSent, frozen=True):
    """The fence has closed before the write could leave."""


@contextmanager
def fenced(fence: Callable[[], str | None] | None) -> Iterator[None]:
    """While the context is open, what leaves has to pass this fence; none, for what is no write."""
    token = _FENCE.set(fence)
    try:
        yield
    finally:
        _FENCE.reset(token)


def held_back() -> HeldBack | None:
    """For transports that wait before they send: to be asked with nothing between it and the first byte."""
    fence = _FENCE.get()
    reason = None if fence is None else fence()
    return None if reason is None else HeldBack(reason)
