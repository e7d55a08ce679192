"""What is counted of one controller: plain numbers, since counting happens with every run. They become metrics when somebody asks."""

from __future__ import annotations

from bisect import bisect_left

from setpoint.manager.metrics.buckets import QUEUE_BUCKETS, RECONCILE_BUCKETS
from setpoint.manager.metrics.depth import Depth

RESULTS = ("success", "error", "requeue", "requeue_after")


class Spread:
    """A histogram: how many values there were up to each bound, and their sum."""

    __slots__ = ("_bounds", "_counts", "sum")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def observe(self, value: float) -> None:
        """One more value."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self.sum += value

    @property
    def buckets(self) -> list[tuple[str, float]]:
        """Each bound, and how many values do not exceed it, as a metric has them."""
        found, total = [], 0
        for bound, count in zip((*map(str, map(float, self._bounds)), "+Inf"), self._counts, strict=True):
            total += count
            found.append((bound, float(total)))
        return found


class Tally:
    """The counts of one controller. `started` are its runs that go on, each with the world's monotonic time of its start."""

    __slots__ = (
        *("adds", "concurrency", "conflicts", "depth", "errors", "loops", "panics", "results", "retries"),
        *("seconds", "skipped", "started", "terminal", "timeouts", "waited", "worked"),
    )

    def __init__(self, concurrency: int) -> None:
        self.concurrency = concurrency
        self.started: dict[str, float] = {}
        self.depth = Depth()
        self.adds = self.retries = self.errors = self.terminal = self.panics = self.timeouts = 0
        self.conflicts = self.skipped = self.loops = 0
        self.results = dict.fromkeys(RESULTS, 0)
        self.seconds = Spread(RECONCILE_BUCKETS)
        self.waited = Spread(QUEUE_BUCKETS)
        self.worked = Spread(QUEUE_BUCKETS)
