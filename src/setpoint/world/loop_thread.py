"""A thread with an event loop of its own, for what must stay responsive whatever else the program does.

`hold` keeps an asynchronous context manager open there: it is entered and left in one task of that loop, so a server inside lives exactly
as long as the block around it, and a callback that blocks the caller's loop does not stop it.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from types import TracebackType
from typing import Any, TypeVar

T = TypeVar("T")


def fast_loop() -> asyncio.AbstractEventLoop:
    """A new event loop: uvloop's where that is installed, else the standard one."""
    if sys.platform != "win32":
        try:
            import uvloop
        except ImportError:
            pass
        else:
            return uvloop.new_event_loop()
    return asyncio.new_event_loop()


class LoopThread:
    """A named thread that runs an event loop while the context is open. At the end, what still runs there is cancelled and waited for."""

    def __init__(self, name: str, make_loop: Callable[[], asyncio.AbstractEventLoop] = fast_loop) -> None:
        self._make_loop = make_loop
        self._loop: asyncio.AbstractEventLoop | None = None
        self._started = threading.Event()
        self._stop: asyncio.Event | None = None
        self._ending = threading.Lock()
        self._thread = threading.Thread(target=self._main, name=name, daemon=True)

    def __enter__(self) -> LoopThread:
        self._thread.start()
        self._started.wait()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        loop, stop = self._loop, self._stop
        if loop is not None and stop is not None and self._thread.is_alive():
            with self._ending:  # what was submitted before is a task by the time that the loop stops, so it is cancelled and not forgotten
                self._loop = None
                loop.call_soon_threadsafe(stop.set)
        self._thread.join()

    @property
    def is_mine(self) -> bool:
        """Whether the caller is on the thread itself, where to wait for it would be to wait for ever."""
        return threading.current_thread() is self._thread

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Starts a coroutine on the thread's loop. Raises `RuntimeError` outside the context."""
        with self._ending:
            if self._loop is not None and self._thread.is_alive():
                return asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        coroutine.close()
        raise RuntimeError(f"the thread {self._thread.name} does not run")

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine there and blocks until it is done."""
        return self.submit(coroutine).result()

    @contextmanager
    def hold(self, make: Callable[[], AbstractAsyncContextManager[T]]) -> Iterator[T]:
        """Enters what `make` returns on the thread's loop, gives its value, and leaves it at the end. Blocks the caller both times."""
        held = _Held(make)
        ended = self.submit(held.run())
        try:
            yield held.entered.result()
        finally:
            if self._thread.is_alive():  # it is not in a process that was forked off, and what is held is not that one's to leave
                self.run(held.release())
                ended.result()

    @asynccontextmanager
    async def holding(self, make: Callable[[], AbstractAsyncContextManager[T]]) -> AsyncIterator[T]:
        """The same for a caller that has a loop, too: it waits instead of blocking."""
        held = _Held(make)
        ended = self.submit(held.run())
        try:
            # Shielded: a caller that is cancelled must not cancel what the other thread is about to say.
            yield await asyncio.shield(asyncio.wrap_future(held.entered))
        finally:
            await asyncio.shield(asyncio.wrap_future(self.submit(held.release())))
            await asyncio.shield(asyncio.wrap_future(ended))

    def _main(self) -> None:
        with asyncio.Runner(loop_factory=self._make_loop) as runner:
            self._loop = runner.get_loop()
            runner.run(self._live())

    async def _live(self) -> None:
        self._stop = asyncio.Event()
        self._started.set()
        await self._stop.wait()


class _Held:
    """One context manager that another thread holds open."""

    def __init__(self, make: Callable[[], AbstractAsyncContextManager[Any]]) -> None:
        self._make = make
        self._left = asyncio.Event()
        self.entered: Future[Any] = Future()

    async def run(self) -> None:
        try:
            async with self._make() as value:
                self.entered.set_result(value)
                await self._left.wait()
        except BaseException as error:
            if self.entered.done():
                raise
            self.entered.set_exception(error)

    async def release(self) -> None:
        self._left.set()
