"""`ThreadPool`: how many plain `def` reconcilers of one manager run at a time, and who holds the threads when there are too few.

Whoever comes when all threads are taken waits, first come, first served. When somebody has waited for `PATIENCE` seconds that is said once,
naming the controllers that hold the threads, until nobody waits any more.
"""

from __future__ import annotations

import asyncio
from collections import deque

from setpoint.world import World

from .events import ThreadPoolFull
from .said import log

THREADS = 32
"""How many threads a manager has unless it is told otherwise."""

PATIENCE = 5.0
"""Seconds: much longer than it takes to be unlucky, much shorter than people wait before they ask."""


class ThreadPool:
    """Takes so many at a time as it has threads; the threads themselves are the world's. It belongs to the event loop."""

    def __init__(self, world: World, size: int = THREADS) -> None:
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise ValueError(f"a thread pool has at least one thread, not {size!r}")
        self.size: int = size
        self._world = world
        self._holders: dict[str, int] = {}
        self._waiting: deque[tuple[str, asyncio.Future[None]]] = deque()
        self._said = False

    @property
    def in_use(self) -> int:
        """How many threads are taken."""
        return sum(self._holders.values())

    @property
    def waiting(self) -> int:
        """How many runs wait for one."""
        return len(self._waiting)

    @property
    def holders(self) -> dict[str, int]:
        """How many threads each controller has, most first."""
        return dict(sorted(self._holders.items(), key=lambda holder: (-holder[1], holder[0])))

    async def acquire(self, controller: str) -> None:
        """Waits for a thread, and takes it. Cancelled, it has taken none."""
        if self.in_use < self.size:
            self._take(controller)
            return
        self._world.observer.emit(ThreadPoolFull(controller=controller, size=self.size, holders=self.holders))
        loop = asyncio.get_running_loop()
        place = controller, loop.create_future()
        self._waiting.append(place)
        warning = loop.call_later(PATIENCE, self._say, controller)
        try:
            await place[1]
        except asyncio.CancelledError:
            if place in self._waiting:
                self._waiting.remove(place)
            elif not place[1].cancelled():
                self.release(controller)  # it was given one in the same moment
            raise
        finally:
            warning.cancel()
            if not self._waiting:
                self._said = False

    def release(self, controller: str) -> None:
        """Gives the thread back: to who waits longest."""
        self._holders[controller] -= 1
        if not self._holders[controller]:
            del self._holders[controller]
        while self._waiting:
            following, waiter = self._waiting.popleft()
            if not waiter.done():
                self._take(following)
                waiter.set_result(None)
                break

    def _take(self, controller: str) -> None:
        self._holders[controller] = self._holders.get(controller, 0) + 1

    def _say(self, controller: str) -> None:
        if not self._said:
            self._said = True
            log.warning(
                'a run has waited for %g s for a thread: all %d are taken, by %s. Plain "def" reconcilers that wait for something hold '
                "theirs meanwhile: make them faster, give them a deadline, or allow more: Options(threads=...)",
                PATIENCE,
                self.size,
                ", ".join(f"{name} ({count})" for name, count in self.holders.items()),
                extra={"controller": controller},
            )
