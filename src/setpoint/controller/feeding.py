"""Feeding: the sources of a controller while it runs. What they give goes into the queue, and no failure of theirs ends anything.

A source that raises, or ends without having been declared finite, is opened anew, after a backoff of its own; a schedule whose function
raises asks it again, so that no tick is lost. On stop each one is closed, as an async generator is: its `finally` runs.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable

from setpoint.objects import Request
from setpoint.world import World

from .backoff import Backoff
from .events import SourceFailed
from .intake import Intake
from .said import in_words, log
from .signatures import requests_of
from .sources import Feed, Schedule, Source
from .tools import ends_the_caller

BASE, CAP = 0.1, 60.0
"""Seconds of the first and of the longest wait before a source is opened again."""

SLICE, LONGEST_SLICE = 60.0, 600.0
"""Seconds after which a schedule looks at its clock again, more if a sixtieth of what is left is more: timers stand still while the machine
sleeps, and clocks are put right."""

LEAVE = 1.0
"""Seconds that a source may take to close after the grace is over."""

_STRIDE = 100
"""So many requests are taken from a source before others get a turn."""


class EndedEarly(Exception):
    """A source has ended, though it was not declared finite."""


class Feeding:
    """Runs the sources of one running controller: from `start` to `stop`, and once."""

    def __init__(self, intake: Intake, feed: Feed, world: World, sources: Iterable[Source | Schedule]) -> None:
        self._intake = intake
        self._feed = feed
        self._world = world
        self._sources = tuple(sources)
        self._backoff = Backoff(world.chance, base=BASE, cap=CAP)
        self._tasks: dict[asyncio.Task[None], None] = {}
        self._delivering = 0
        self._stopped = False

    @property
    def is_idle(self) -> bool:
        """Whether every tick that has come is in the queue. What an external source has in store nobody knows."""
        return not self._delivering

    def start(self, context: contextvars.Context) -> None:
        """Opens every source, each in a task of its own."""
        for source in self._sources:
            work = self._tick(source) if isinstance(source, Schedule) else self._follow(source)
            name = f"{self._intake.controller}-source-{source.name}"
            task = asyncio.get_running_loop().create_task(work, name=name, context=context.copy())
            self._tasks[task] = None

    def cancel(self) -> None:
        """Begins to close them. It may be called again where closing takes too long."""
        self._stopped = True
        for task in self._tasks:
            task.cancel()

    async def ended(self) -> None:
        """Waits until all are closed."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def left_behind(self) -> None:
        """Waits a little until all are closed: one that goes on whatever it is told is no reason for the program to go on."""
        if self._tasks:
            _, open_ = await asyncio.wait(self._tasks, timeout=LEAVE)
            for task in open_:
                log.warning("%s does not end, and is left behind", task.get_name(), extra={"controller": self._intake.controller})

    # external sources

    async def _follow(self, source: Source) -> None:
        key = Request("", source.name)

        async def to_its_end() -> None:
            began = self._world.clock.monotonic()
            try:
                await self._read(source)
            finally:
                if self._world.clock.monotonic() - began >= CAP:
                    self._backoff.forget(key)  # it was well for a while
            if not source.finite and not self._stopped:
                raise EndedEarly("it has ended; if it may, declare it with @controller.source(finite=True)")

        await self._until_well(source.name, to_its_end)

    async def _read(self, source: Source) -> None:
        iterator: AsyncIterator[Request] | None = None
        taken = 0
        try:
            iterator = source.open(self._feed) if source.wants_feed else source.open()
            if not hasattr(iterator, "__anext__"):
                if not hasattr(iterator, "__aiter__"):
                    raise TypeError(f"the source {source.name} gave {iterator!r}, which is no async iterator")
                iterator = aiter(iterator)
            async for request in iterator:
                if self._stopped:
                    return
                self._intake.offer(request, f"source {source.name}")
                taken += 1
                if taken % _STRIDE == 0:
                    await asyncio.sleep(0)
        finally:
            if (close := getattr(iterator, "aclose", None)) is not None:
                await close()

    # schedules

    async def _tick(self, schedule: Schedule) -> None:
        await self._until_well(schedule.name, lambda: self._ticks(schedule))

    async def _ticks(self, schedule: Schedule) -> None:
        ticks = schedule.begin(self._world)
        while True:
            left = ticks.left()
            # Also where it is due at once, again and again: delivering nothing would let nobody else run.
            await asyncio.sleep(max(left, 0.0) if left <= SLICE else min(max(left / 60, SLICE), LONGEST_SLICE))
            if left > 0:
                continue
            ticks.fired()
            self._delivering += 1
            try:
                await self._until_well(schedule.name, lambda: self._deliver(schedule))
            finally:
                self._delivering -= 1
            self._backoff.forget(Request("", schedule.name))

    async def _deliver(self, schedule: Schedule) -> None:
        if schedule.keys is None:
            await self._intake.all(schedule.name)
            return
        await self._intake.offer_all(await requests_of(schedule.keys, self._feed), schedule.name)

    # both

    async def _until_well(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Does it until it does not raise. Raises nothing but what ends this task."""
        while True:
            try:
                await work()
                return
            except BaseException as error:
                if self._stopped or ends_the_caller(error):
                    raise
                seconds = self._failed(name, error)
            await asyncio.sleep(seconds)

    def _failed(self, name: str, error: BaseException) -> float:
        seconds, controller = self._backoff.next(Request("", name)), self._intake.controller
        log.error(
            "the source %s failed, and is tried again in %.3g s: %s",
            name,
            seconds,
            in_words(error),
            exc_info=None if isinstance(error, EndedEarly) else error,
            extra={"controller": controller},
        )
        self._world.observer.emit(SourceFailed(controller=controller, source=name, error=in_words(error), retry_after=seconds))
        return seconds
