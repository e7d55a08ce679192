"""A watchdog over an event loop: notices that a callback does not return, and says where it is stuck.

A coroutine that computes for seconds, or calls something that blocks, stops every watch, timer and health check of its process. The loop
cannot notice that itself, so a thread looks: it asks the loop for a sign of life, and if none comes in time, it reads the stack of the
loop's thread.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import traceback
from collections.abc import Callable
from types import TracebackType


class Watchdog:
    """While the context is open, calls `report(seconds, stack)` whenever the loop has not answered for `limit` seconds.

    The call comes from a thread of the watchdog's own, once for each time that the loop is stuck; `stack` is the text of where it is.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, limit: float, report: Callable[[float, str], None]) -> None:
        self._loop = loop
        self._limit = limit
        self._report = report
        self._alive = threading.Event()
        self._ended = threading.Event()
        self._thread_of_loop = threading.get_ident()
        self._thread = threading.Thread(target=self._watch, name="setpoint-watchdog", daemon=True)

    def __enter__(self) -> Watchdog:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._ended.set()
        self._alive.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.is_set():
            self._alive.clear()
            self._loop.call_soon_threadsafe(self._alive.set)
            if not self._alive.wait(self._limit):
                frame = sys._current_frames().get(self._thread_of_loop)
                stack = "".join(traceback.format_stack(frame)[-6:]) if frame is not None else ""
                self._report(self._limit, stack)
                self._alive.wait()
            self._ended.wait(self._limit / 2)
