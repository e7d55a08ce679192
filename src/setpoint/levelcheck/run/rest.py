"""When is a cluster at rest? When nothing is under way, and nothing has been changed for a while; or it never comes to rest."""

from __future__ import annotations

import asyncio

QUIET = 30.0
"""So many simulated seconds without a change mean that nothing is going on; longer where timers are set: twice the longest of them."""
LONGEST = 900.0
"""Timers longer than half of that are not waited for; a workload can `advance`."""
PATIENCE = 4 * 3600.0
"""So many simulated seconds without rest mean that there will be none."""
HOT = 400
"""As many changes of one object within a simulated minute mean the same."""
RENEWED = 100
"""As many deletions of objects of one made-up name do, if that is ten times as many as there ever were at a time."""
GROWN = 1000
"""So many objects of one made-up name at a time do, too: they become ever more."""
RUNS = 5000
"""As many runs mean the same."""


class Activity:
    """What has been going on lately."""

    def __init__(self) -> None:
        self.last_change = 0.0
        self.timers: dict[tuple[str, str], tuple[float, float, str]] = {}
        """Of a controller and a key: when it runs again, after how many seconds that is, and why (timer or backoff)."""
        self.endless = ""
        """Why there will be no rest; empty while there may be."""
        self.runs = 0
        self.noticed = asyncio.Event()
        """Set as soon as it is known that there will be no rest."""
        self._minute = 0.0
        self._counts: dict[object, int] = {}
        self._alive: dict[str, int] = {}
        self._most: dict[str, int] = {}

    def changed(self, key: object, now: float, *, passing: bool = False) -> None:
        """Something was changed. What is `passing` is no sign that there will be no rest: a process that lags behind does it."""
        self.last_change = now
        if passing:
            return
        if now >= self._minute + 60.0:
            self._minute = now
            self._counts.clear()
        count = self._counts[key] = self._counts.get(key, 0) + 1
        if count >= HOT:
            self.never_rests(f"{key} is written again and again")

    def came_or_went(self, name: str, *, went: bool, passing: bool = False) -> None:
        """An object whose name the server has made up was created, or deleted: `name` is what they have in common. After `changed`."""
        alive = self._alive[name] = max(0, self._alive.get(name, 0) + (-1 if went else 1))
        most = self._most[name] = max(alive, self._most.get(name, 0))
        if alive >= GROWN:
            self.never_rests(f"{name} become ever more")
        if not went or passing:
            return
        count = self._counts[name] = self._counts.get(name, 0) + 1
        if count >= max(RENEWED, 10 * most):
            self.never_rests(f"{name} is made and deleted again and again")

    def never_rests(self, why: str) -> None:
        """It is known that there will be no rest; the first reason is kept."""
        self.endless = self.endless or why
        self.noticed.set()

    def timer(self, controller: str, key: str, due: float, after: float, cause: str) -> None:
        """A key will run by itself."""
        self.timers[controller, key] = (due, after, cause)

    def ran(self, controller: str, key: str) -> None:
        """A run has begun: it meets the timer of its key."""
        self.runs += 1
        if self.runs >= RUNS:
            self.never_rests(f"reconcilers have run {self.runs} times")
        self.timers.pop((controller, key), None)

    def quiet_until(self, since: float) -> float:
        """The time until which nothing may happen for it to be at rest, if the wait began at `since`."""
        longest = max((after for _, after, _ in self.timers.values() if 2 * after <= LONGEST), default=0.0)
        return max(self.last_change, since) + max(QUIET, 2 * longest + 1.0)
