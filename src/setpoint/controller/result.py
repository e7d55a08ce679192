"""`Result`: what a reconciler asks for beyond "done"; `TerminalError`: what it raises when trying again cannot help."""

from __future__ import annotations

from datetime import timedelta

import msgspec


class Result(msgspec.Struct, frozen=True, kw_only=True, repr_omit_defaults=True):
    """What a run asks for. Returning None is the same as `Result()`: nothing, until something changes.

    `requeue_after` is seconds or a `timedelta`: the key runs again after that time at the latest, sooner if something changes. Zero or less
    means *now*, through the key's rate limiter, so that it cannot spin. (In Go's controller-runtime zero means nothing; here `None` does.)

    `priority` is that of the run that it asks for: higher ones go first, 0 is normal. None keeps what this run had.
    """

    requeue_after: float | timedelta | None = None
    priority: int | None = None

    @property
    def seconds(self) -> float | None:
        """`requeue_after` in seconds."""
        after = self.requeue_after
        return after.total_seconds() if isinstance(after, timedelta) else after


class TerminalError(Exception):
    """Trying again cannot help until something changes: it is logged and counted as an error, and the key is not retried."""
