"""Watches that are late, break off, or say but one thing. What is delivered is complete and in order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from setpoint.api import Operation, Stream, StreamBroken

_BROKEN = "the connection was cut"


class Told:
    """A stream of frames that are there already, and its end."""

    def __init__(self, frames: list[bytes]) -> None:
        self._frames = frames

    async def read(self) -> list[bytes] | None:
        """See `Stream`."""
        frames, self._frames = self._frames, []
        return frames or None

    async def close(self) -> None:
        """See `Stream`."""
        self._frames = []


class Ending:
    """A stream that somebody else may end, cleanly or not, while it is read."""

    def __init__(self, inner: Stream, operation: Operation, *, forget: Callable[[], object] = lambda: None) -> None:
        self.operation = operation
        self._inner = inner
        self._forget = forget
        self._ended = asyncio.Event()
        self._cleanly = True
        self._reading: asyncio.Future[list[bytes] | None] | None = None

    def end(self, *, cleanly: bool) -> None:
        """Ends it. Only the first time counts."""
        if not self._ended.is_set():
            self._cleanly = cleanly
            self._ended.set()
            self._forget()

    async def read(self) -> list[bytes] | None:
        """See `Stream`."""
        if self._ended.is_set():
            self._check()
            return None
        reading = asyncio.ensure_future(self._inner.read())
        ended = asyncio.ensure_future(self._ended.wait())
        try:
            await asyncio.wait([reading, ended], return_when=asyncio.FIRST_COMPLETED)
            if not self._ended.is_set():
                return reading.result()
            self._check()
            return None
        finally:
            for task in (reading, ended):
                task.cancel()
            await asyncio.gather(reading, ended, return_exceptions=True)

    async def close(self) -> None:
        """See `Stream`."""
        self._forget()
        await self._inner.close()

    def _check(self) -> None:
        if not self._cleanly:
            raise StreamBroken(_BROKEN)


class _Delayed:
    def __init__(self, inner: Stream, seconds: float) -> None:
        self._inner = inner
        self._seconds = seconds
        self._waiting: asyncio.Queue[tuple[float, list[bytes] | StreamBroken | None]] = asyncio.Queue()
        self._filling = asyncio.create_task(self._fill(), name="late-watch")

    async def _fill(self) -> None:
        loop = asyncio.get_running_loop()
        told: list[bytes] | StreamBroken | None = []
        while isinstance(told, list):
            try:
                told = await self._inner.read()
            except StreamBroken as error:
                told = error
            self._waiting.put_nowait((loop.time() + self._seconds, told))

    async def read(self) -> list[bytes] | None:
        due, told = await self._waiting.get()
        await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))
        if not isinstance(told, list):
            self._waiting.put_nowait((due, told))
        if isinstance(told, StreamBroken):
            raise told
        return told

    async def close(self) -> None:
        self._filling.cancel()
        await asyncio.gather(self._filling, return_exceptions=True)
        await self._inner.close()


class _Counted:
    def __init__(self, inner: Ending, events: int, *, cleanly: bool) -> None:
        self._inner = inner
        self._left = events
        self._cleanly = cleanly

    async def read(self) -> list[bytes] | None:
        if self._left <= 0:
            self._inner.end(cleanly=self._cleanly)
        frames = await self._inner.read()
        if frames is None:
            return None
        passed = frames[: self._left]
        self._left -= len(passed)
        return passed

    async def close(self) -> None:
        await self._inner.close()


def delayed(stream: Stream, seconds: float) -> Stream:
    """The stream, each of whose events comes so late; so does its end, or its breaking off."""
    return _Delayed(stream, seconds)


def broken_off(stream: Stream, operation: Operation, events: int | None, seconds: float | None, *, cleanly: bool) -> Stream:
    """The stream, broken off after so many events or seconds; at once, if neither is said."""
    ending = Ending(stream, operation)
    if seconds is not None:
        asyncio.get_running_loop().call_later(seconds, lambda: ending.end(cleanly=cleanly))
    if events is None and seconds is not None:
        return ending
    return _Counted(ending, events or 0, cleanly=cleanly)
