"""Resync: each object runs again when it has not run for long. The net below all else that should have triggered it.

Nothing is filtered here: controller-runtime's resync comes through the predicates, and one about the generation lets none of it pass.

There is no timer for each key. A run forgets when its key is due; a sweep, fifty times in a period, sets when those are due that were
forgotten, and enqueues those whose time has come. So a run costs one look into a dictionary, and 100,000 keys some milliseconds a sweep.
"""

from __future__ import annotations

import asyncio

from setpoint.cache import AnyInformer
from setpoint.objects import Request
from setpoint.world import Chance

from .lanes import LOW_PRIORITY
from .queue import Queue

SWEEPS = 50
"""So many in a period."""

SHORTEST, LONGEST = 0.9, 1.1
"""A key runs again after this much of the period, by chance, so that what ran together spreads out."""

_STRIDE = 1000
"""So many keys are looked at before others get a turn."""


class Resync:
    """The resync of one running controller. `period` is in seconds of the loop's time."""

    def __init__(self, queue: Queue, primary: AnyInformer, chance: Chance, period: float) -> None:
        self._queue = queue
        self._primary = primary
        self._chance = chance
        self._period = period
        self._due: dict[Request, float] = {}

    def ran(self, key: Request) -> None:
        """A run of the key begins: its time is counted from now."""
        self._due.pop(key, None)

    async def run(self) -> None:
        """Sweeps until cancelled."""
        while True:
            await asyncio.sleep(self._period / SWEEPS)
            await self._sweep()

    async def _sweep(self) -> None:
        now, period, due = asyncio.get_running_loop().time(), self._period, self._due
        # A key is seen here up to one sweep after its run, and enqueued up to one after it is due.
        low, high = SHORTEST * period, (LONGEST - 2 / SWEEPS) * period
        keys = self._primary.keys_as_they_came()
        for number, key in enumerate(keys, 1):
            at = due.get(key)
            if at is None:
                due[key] = now + self._chance.uniform(low, high)
            elif at <= now:
                self._queue.add(key, "resync", priority=LOW_PRIORITY)
            if number % _STRIDE == 0:
                await asyncio.sleep(0)
        if len(due) > len(keys):
            here = dict.fromkeys(keys)
            for key in [key for key in due if key not in here]:
                del due[key]
