"""How `setpoint run` ends: the first signal asks, the second one does not; and a deadline stands behind both.

The handlers are Python's own and not the event loop's, since a loop that a reconciler blocks would never call them.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from setpoint.world.clock import Clock, RealClock

AT_ONCE = 0.5
"""Seconds within which the same signal once more is the same request: `timeout` signals a process, and its group, too."""
LATE = 5.0
"""Seconds after the grace period at which the program ends although something has not."""


class Ending:
    """Whether the end was asked for, and how what runs is told. Until it says how, it is cancelled."""

    def __init__(self) -> None:
        self.asked = False
        self.gently: Callable[[], object] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._work: asyncio.Task[None] | None = None

    def ask(self) -> None:
        """From a signal's handler: wherever the main thread is."""
        self.asked = True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._tell)

    async def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Runs it until it ends, by itself or because that was asked for, be it before it began."""
        self._loop = asyncio.get_running_loop()
        self._work = self._loop.create_task(work, name="setpoint")
        if self.asked:
            self._tell()
        try:
            await self._work
        except asyncio.CancelledError:
            if not self.asked:
                raise
        finally:
            self._loop = None

    def _tell(self) -> None:
        if self.gently is not None:
            self.gently()
        elif self._work is not None:
            self._work.cancel()


@contextmanager
def on_signal(ending: Ending, say: Callable[[str], object], grace: float, *, clock: Clock | None = None) -> Iterator[None]:
    """The first SIGINT or SIGTERM asks for the end. The second one ends the process at once, unless it is the first one's echo (`AT_ONCE`).

    So does the time, `LATE` seconds after `grace`: a thread that hangs, or a loop that is blocked, ends in no other way. Nothing is lost:
    what a controller has half done, the next start does anew.
    """

    clock = clock or RealClock()
    first: tuple[int, float] | None = None

    def ask(number: int, frame: FrameType | None) -> None:
        nonlocal first
        if first is not None:
            if number == first[0] and clock.monotonic() - first[1] < AT_ONCE:
                return
            _end("ended by a second signal, without grace", 130)
        first = number, clock.monotonic()
        ending.ask()  # before it is said: whoever reads it may send the second signal into the midst of this
        signal.setitimer(signal.ITIMER_REAL, grace + LATE)
        say("stopping: what runs may end; a second signal ends it at once")

    def give_up(number: int, frame: FrameType | None) -> None:
        _end(f"ended, although a reconciler has hung or blocked for {grace + LATE:g} s since it was told to stop", 1)

    handlers = {signal.SIGINT: ask, signal.SIGTERM: ask, signal.SIGALRM: give_up}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(text: str, code: int) -> None:
    # Not through a stream: what was interrupted may hold its lock.
    os.write(2, f"setpoint: {text}\n".encode())
    os._exit(code)
