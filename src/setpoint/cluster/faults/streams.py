"""Watches that are late, break off, or say but one thing. What is delivered is complete and in order."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from setpoint.api import Operation, ServedStream, StreamBroken

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

    def when_ended(self, told: Callable[[], object], /) -> None:
        """See `ServedStream`."""
        told()


class Ending:
    """A stream that somebody else may end, cleanly or not, while it is read."""

    def __init__(self, inner: ServedStream, operation: Operation, *, forget: Callable[[], object] = lambda: None) -> None:
        self.operation = operation
        self._inner = inner
        self._forget = forget
        self._ended = asyncio.Event()
        self._cleanly = True
        self._told: Callable[[], object] | None = None

    def end(self, *, cleanly: bool) -> None:
        """Ends it. Only the first time counts."""
        if not self._ended.is_set():
            self._cleanly = cleanly
            self._ended.set()
            self._forget()
            self._tell()

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

    def when_ended(self, told: Callable[[], object], /) -> None:
        """See `ServedStream`."""
        if self._ended.is_set():
            told()
        else:
            self._told = told
            self._inner.when_ended(self._tell)

    def _tell(self) -> None:
        told, self._told = self._told, None
        if told is not None:
            told()

    def _check(self) -> None:
        if not self._cleanly:
            raise StreamBroken(_BROKEN)


class _Delayed:
    """While the first that waits is due and nobody takes it, the rest waits within: who does not read is noticed there, and dropped."""

    def __init__(self, inner: ServedStream, seconds: float) -> None:
        self._inner = inner
        self._seconds = seconds
        self._waiting: deque[tuple[float, list[bytes] | StreamBroken | None]] = deque()
        self._arrived = asyncio.Event()
        self._taken = asyncio.Event()
        self._filling = asyncio.create_task(self._fill(), name="late-watch")

    async def _fill(self) -> None:
        loop = asyncio.get_running_loop()
        told: list[bytes] | StreamBroken | None = []
        while isinstance(told, list):
            while self._waiting and self._waiting[0][0] < loop.time():
                self._taken.clear()
                await self._taken.wait()
            try:
                told = await self._inner.read()
            except StreamBroken as error:
                told = error
            self._waiting.append((loop.time() + self._seconds, told))
            self._arrived.set()

    async def read(self) -> list[bytes] | None:
        while not self._waiting:
            self._arrived.clear()
            await self._arrived.wait()
        due, told = self._waiting[0]
        await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))
        if isinstance(told, StreamBroken):
            raise told
        if told is not None:  # the end stays
            self._waiting.popleft()
            self._taken.set()
        return told

    async def close(self) -> None:
        self._filling.cancel()
        await asyncio.gather(self._filling, return_exceptions=True)
        await self._inner.close()

    def when_ended(self, told: Callable[[], object], /) -> None:
        loop = asyncio.get_running_loop()
        self._inner.when_ended(lambda: loop.call_later(self._seconds, told))


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

    def when_ended(self, told: Callable[[], object], /) -> None:
        self._inner.when_ended(told)


def delayed(stream: ServedStream, seconds: float) -> ServedStream:
    """The stream, each of whose events comes so late; so does its end, or its breaking off."""
    return _Delayed(stream, seconds)


def broken_off(stream: ServedStream, operation: Operation, events: int | None, seconds: float | None, *, cleanly: bool) -> ServedStream:
    """The stream, broken off after so many events or seconds; at once, if neither is said."""
    ending = Ending(stream, operation)
    if seconds is not None:
        asyncio.get_running_loop().call_later(seconds, lambda: ending.end(cleanly=cleanly))
    if events is None and seconds is not None:
        return ending
    return _Counted(ending, events or 0, cleanly=cleanly)
