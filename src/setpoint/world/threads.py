"""Threads: the bounded pool in which plain `def` code runs, and its way back to the event loop."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Generic, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Threads(Protocol):
    """Where blocking code runs."""

    @property
    def running(self) -> int:
        """How many functions run now."""
        ...

    async def run(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs the function in a thread of the pool, with the caller's context variables, and gives its result or its exception."""
        ...

    def call(self, make: Callable[[], Awaitable[T]], /) -> T:
        """From inside such a thread: runs what `make` returns on the event loop, and blocks until it is done.

        Raises `RuntimeError` on any other thread, where it could only deadlock.
        """
        ...

    def apart(self, name: str) -> Threads:
        """One more thread, which runs one function after another and waits for nothing that runs here. Whoever asks for it closes it."""
        ...

    async def close(self) -> None:
        """Waits for running functions, and ends the threads."""
        ...


_BRIDGE: contextvars.ContextVar[Callable[[Callable[[], Awaitable[Any]]], Any] | None] = contextvars.ContextVar(
    "setpoint_bridge", default=None
)


def _through_the_bridge(make: Callable[[], Awaitable[T]]) -> T:
    bridge = _BRIDGE.get()
    if bridge is None:
        raise RuntimeError("this call blocks and works only inside a plain `def` reconciler; in async code, await the async form")
    result: T = bridge(make)
    return result


async def _awaited(make: Callable[[], Awaitable[T]]) -> T:
    return await make()


class RealThreads:
    """A pool of at most `size` threads, started as they are needed. How many reconcilers run at a time is each manager's to say."""

    def __init__(self, size: int = 1024, name: str = "setpoint") -> None:
        self.size = size
        self._name = name
        self.running = 0
        self._pool: ThreadPoolExecutor | None = None

    async def run(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs the function in a thread of the pool."""
        loop = asyncio.get_running_loop()
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.size, thread_name_prefix=self._name)
        context = contextvars.copy_context()

        def bridge(make: Callable[[], Awaitable[Any]]) -> Any:
            return asyncio.run_coroutine_threadsafe(_awaited(make), loop).result()

        context.run(_BRIDGE.set, bridge)
        self.running += 1
        try:
            return await loop.run_in_executor(self._pool, lambda: context.run(function, *args, **kwargs))
        finally:
            self.running -= 1

    def call(self, make: Callable[[], Awaitable[T]], /) -> T:
        """Runs a coroutine on the loop and blocks until it is done."""
        return _through_the_bridge(make)

    def apart(self, name: str) -> RealThreads:
        """A pool of one."""
        return RealThreads(1, name)

    async def close(self) -> None:
        """Ends the threads, after what they run."""
        if self._pool is not None:
            pool, self._pool = self._pool, None
            await asyncio.get_running_loop().run_in_executor(None, pool.shutdown)


class HandOverThreads:
    """Threads for simulation: loop and thread hand over strictly, so that only one of them ever runs and the order is the loop's alone."""

    def __init__(self) -> None:
        self.running = 0

    async def run(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs the function in a thread of its own; the loop stands still while the thread computes."""
        context = contextvars.copy_context()
        to_loop: _Box[Callable[[], Awaitable[Any]] | None] = _Box()
        to_thread: _Box[Future[Any]] = _Box()
        result: Future[T] = Future()

        def bridge(make: Callable[[], Awaitable[Any]]) -> Any:
            to_loop.put(make)
            return to_thread.take().result()

        context.run(_BRIDGE.set, bridge)

        def body() -> None:
            try:
                result.set_result(context.run(function, *args, **kwargs))
            except BaseException as error:
                result.set_exception(error)
            to_loop.put(None)

        self.running += 1
        thread = threading.Thread(target=body, name="setpoint-simulated", daemon=True)
        thread.start()
        try:
            while (make := to_loop.take()) is not None:
                outcome: Future[Any] = Future()
                try:
                    outcome.set_result(await make())
                except BaseException as error:
                    outcome.set_exception(error)
                    if not isinstance(error, Exception):
                        # Cancelled: the thread hears it as an exception of its call, and whatever it does then is waited for.
                        to_thread.put(outcome)
                        while to_loop.take() is not None:
                            to_thread.put(outcome)
                        raise
                to_thread.put(outcome)
        finally:
            self.running -= 1
        thread.join()
        return result.result()

    def call(self, make: Callable[[], Awaitable[T]], /) -> T:
        """Hands over to the loop until the coroutine is done."""
        return _through_the_bridge(make)

    def apart(self, name: str) -> HandOverThreads:
        """The same: nothing here waits for anything else."""
        return HandOverThreads()

    async def close(self) -> None:
        """Nothing to end: a thread ends with its function."""


class _Box(Generic[T]):
    """Holds one value on its way between two threads."""

    def __init__(self) -> None:
        self._values: list[T] = []
        self._full = threading.Semaphore(0)

    def put(self, value: T) -> None:
        """Hands it over."""
        self._values.append(value)
        self._full.release()

    def take(self) -> T:
        """Waits for it."""
        self._full.acquire()
        return self._values.pop()
