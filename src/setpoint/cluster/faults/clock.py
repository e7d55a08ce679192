"""The server's clock, which may be ahead of everybody else's, or behind."""

from __future__ import annotations

from datetime import datetime, timedelta

from setpoint.world import Clock


class ShiftedClock:
    """Another clock, `offset` ahead of it. Timestamps and ages of objects come from it; waiting does not."""

    def __init__(self, clock: Clock, offset: timedelta = timedelta()) -> None:
        self._clock = clock
        self.offset = offset

    def now(self) -> datetime:
        """The time, aware, in UTC."""
        return self._clock.now() + self.offset

    def monotonic(self) -> float:
        """See `Clock`."""
        return self._clock.monotonic()
