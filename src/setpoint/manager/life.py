"""`Life`: where a manager is in its life, the parts that it consists of, and why it ends.

Every part of a manager runs until it is told to end. One that ends by itself ends the whole, and is the reason that `run` raises.
"""

from __future__ import annotations

import asyncio
import logging
from asyncio import FIRST_COMPLETED
from collections.abc import Coroutine
from enum import Enum
from typing import Any

from setpoint.manager.election import LeadershipLost

log = logging.getLogger("setpoint.manager")


class Phase(Enum):
    """Where a manager is in its life; it only goes forward."""

    NEW = "new"
    RUNNING = "running"
    STOPPING = "stopping"
    ENDED = "ended"


class Life:
    """One life: NEW until `begin`, RUNNING until `wind_down`, STOPPING until `end`."""

    def __init__(self) -> None:
        self.phase: Phase = Phase.NEW
        self.told_to_stop: asyncio.Event = asyncio.Event()
        self.failure: RuntimeError | None = None

    def begin(self) -> None:
        """Raises `RuntimeError` where it has begun before."""
        if self.phase is not Phase.NEW:
            raise RuntimeError(f"a manager runs once, and this one is {self.phase.value}")
        self.phase = Phase.RUNNING

    def stop(self) -> None:
        """Asks for the end."""
        self.told_to_stop.set()

    async def stopped_or(self, event: asyncio.Event) -> None:
        """Waits for what comes first."""
        waiting = [asyncio.create_task(one.wait()) for one in (self.told_to_stop, event)]
        try:
            await asyncio.wait(waiting, return_when=FIRST_COMPLETED)
        finally:
            for task in waiting:
                task.cancel()

    async def until_stopped(self, work: Coroutine[Any, Any, None]) -> None:
        """Does this, or as much of it as can be done before it is told to stop. Raises what it raises."""
        working, stopping = asyncio.create_task(work), asyncio.create_task(self.told_to_stop.wait())
        try:
            await asyncio.wait([working, stopping], return_when=FIRST_COMPLETED)
        finally:
            stopping.cancel()
            working.cancel()
            await asyncio.wait([working])
        if not working.cancelled():
            working.result()

    def wind_down(self) -> None:
        """From now on, a part may end."""
        self.phase = Phase.STOPPING

    def end(self) -> None:
        """Nothing comes after this."""
        self.phase = Phase.ENDED

    def spawn(self, part: str, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Starts a part; `part` is what it is called."""
        task = asyncio.create_task(work, name=part)
        task.add_done_callback(self._part_ended)
        return task

    def _part_ended(self, part: asyncio.Task[None]) -> None:
        error = None if part.cancelled() else part.exception()
        if isinstance(error, LeadershipLost):
            self.failure = error
            log.error("%s", error)  # as well: whoever runs the manager may look at how it ended much later
            self.stop()
        elif self.phase is Phase.RUNNING and self.failure is None:
            self.failure = RuntimeError(f"{part.get_name()} has ended, though nothing told it to, and so the manager cannot go on")
            self.failure.__cause__ = error
            log.error("%s", self.failure, exc_info=error)
            self.stop()
        elif error is not None:
            log.error("%s has failed while the manager ends: %s", part.get_name(), error, exc_info=error)


def check_loop(what: str) -> None:
    """Raises `RuntimeError` outside of an event loop: queues and watches belong to one from the first moment."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        raise RuntimeError(f"{what} is for the event loop in which the manager runs: call it in the async function that runs it") from None
