"""Wall time: what goes into timestamps. Waiting is the event loop's business, which simulation replaces as a whole."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """What the time is."""

    def now(self) -> datetime:
        """The wall time, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that only go forward, for durations; the zero means nothing. It is the same for all threads."""
        ...


class RealClock:
    """The machine's clocks."""

    def now(self) -> datetime:
        """The machine's wall time in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """The machine's steady clock. It goes on while the machine sleeps, where there is such a clock: a lease does so, too."""
        return time.clock_gettime(time.CLOCK_BOOTTIME) if sys.platform == "linux" else time.perf_counter()


class SimulatedClock:
    """A clock that shows the simulated loop's time, counted from `start`; `offset` puts this clock ahead of others, or behind."""

    def __init__(
        self, loop_time: Callable[[], float], start: datetime = datetime(2026, 1, 1, tzinfo=UTC), offset: timedelta = timedelta()
    ) -> None:
        self._loop_time = loop_time
        self._start = start
        self.offset = offset

    def now(self) -> datetime:
        """The simulated wall time in UTC."""
        return self._start + self.offset + timedelta(seconds=self._loop_time())

    def monotonic(self) -> float:
        """The simulated loop's time."""
        return self._loop_time()
