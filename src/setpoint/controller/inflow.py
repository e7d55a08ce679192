"""`Inflow`: all that comes into a running controller's queue beside its watches. Sources, hooks, callers, and the resync.

It ends in the same call on the same queue as everything else.
"""

from __future__ import annotations

import asyncio
import contextvars
from typing import Any

from setpoint.cache import AnyInformer, Scope
from setpoint.objects import Request
from setpoint.world import World

from .controller import Controller
from .feeding import Feeding
from .intake import Intake
from .queue import Queue
from .resync import Resync
from .sources import Feed
from .tools import Tools


class Inflow:
    """Runs from `start` to `stop`, and once. Requests that are added before the start are kept."""

    def __init__(
        self,
        controller: Controller[Any],
        *,
        queue: Queue,
        primary: AnyInformer,
        tools: Tools,
        world: World,
        scope: Scope,
    ) -> None:
        self.intake: Intake = Intake(queue, primary, tools.said, scope=scope)
        self.feed: Feed = Feed(tools.client, tools.view, tools.said, world, primary)
        self._feeding = Feeding(self.intake, self.feed, world, controller.sources)
        self._resync = None if controller.resync is None else Resync(queue, primary, world.chance, controller.resync)
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def is_idle(self) -> bool:
        """Whether all that is known to have come is in the queue."""
        return self._feeding.is_idle

    def ran(self, key: Request) -> None:
        """A run of the key begins."""
        if self._resync is not None:
            self._resync.ran(key)

    def start(self, context: contextvars.Context) -> None:
        """Opens the sources, and begins to count the time."""
        self._feeding.start(context)
        if self._resync is not None:
            name = f"{self.intake.controller}-resync"
            self._tasks.append(asyncio.get_running_loop().create_task(self._resync.run(), name=name, context=context.copy()))

    def close(self) -> None:
        """Takes nothing more, and begins to close the sources. It may be called again where one of them does not want to."""
        self._feeding.cancel()
        for task in self._tasks:
            task.cancel()

    async def closed(self, *, wait: bool = True) -> None:
        """Waits until all is closed; without `wait`, for a second at most."""
        await (self._feeding.ended() if wait else self._feeding.left_behind())
        await asyncio.gather(*self._tasks, return_exceptions=True)
