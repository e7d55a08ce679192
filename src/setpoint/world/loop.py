"""An event loop in simulated time: nothing waits, everything is reproducible.

Time stands still while anything is ready and jumps to the next timer when nothing is, so an hour's timer costs nothing. Callbacks run in
the order in which they became ready, as asyncio promises; tasks and futures hash by their sequence number, so that no order depends on an
address. A loop with nothing ready and no timer left would wait for ever: that raises `Deadlock`, naming the tasks that wait.

A simulated process (see `process`) that has been killed is never resumed: its callbacks are dropped when their turn comes, and what they
held is kept alive in `graveyard`, so that no `finally` of it runs. One that is paused goes on later, with all that became ready meanwhile.
Both take a process with its parts: `a/election` is a part of `a`.
"""

from __future__ import annotations

import asyncio
import heapq
from asyncio import events
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextvars import Context, copy_context
from typing import Any, NoReturn, TypeVar, TypeVarTuple, Unpack

from setpoint.world.process import PROCESS

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class Deadlock(RuntimeError):
    """Something is awaited that nothing will ever bring about."""


class SimulatedFuture(asyncio.Future[T]):
    """A future that hashes by its sequence number."""

    def __init__(self, *, loop: SimulatedLoop) -> None:
        super().__init__(loop=loop)
        self.sequence = loop.next_sequence()

    def __hash__(self) -> int:
        return self.sequence

    def __eq__(self, other: object) -> bool:
        return self is other


class SimulatedTask(asyncio.Task[T]):
    """A task that hashes by its sequence number."""

    def __init__(self, coro: Coroutine[Any, Any, T], *, loop: SimulatedLoop, **kwargs: Any) -> None:
        self.sequence = loop.next_sequence()
        given = kwargs.pop("context", None)
        self.home: Context = copy_context() if given is None else given  # an empty one is false, and is meant
        super().__init__(coro, loop=loop, context=self.home, **kwargs)

    def __hash__(self) -> int:
        return self.sequence

    def __eq__(self, other: object) -> bool:
        return self is other


class SimulatedLoop(asyncio.AbstractEventLoop):
    """See the module. It has no sockets, no signals, no subprocesses and no executor: each says so when asked for."""

    def __init__(self) -> None:
        self._now = 0.0
        self._ready: deque[asyncio.Handle] = deque()
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._sequence = 0
        self._running = False
        self._stopping = False
        self._closed = False
        self._dead: dict[str, None] = {}
        self._paused: dict[str, list[asyncio.Handle]] = {}
        self._generators: dict[int, AsyncGenerator[Any, Any]] = {}
        self._failures: list[BaseException] = []
        self._failed_tasks: list[asyncio.Task[Any]] = []
        self._handler: Callable[[asyncio.AbstractEventLoop, dict[str, Any]], object] | None = None
        self.graveyard: list[object] = []
        self.steps = 0

    # time

    def time(self) -> float:
        """Simulated seconds since the loop was made."""
        return self._now

    def next_sequence(self) -> int:
        """A number that no task or future of this loop has had."""
        self._sequence += 1
        return self._sequence

    # scheduling

    def call_soon(self, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None) -> asyncio.Handle:
        """Runs the callback in this turn of the loop, after what is ready already."""
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_soon_threadsafe(self, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None) -> asyncio.Handle:
        """The same: in simulation, loop and thread never run at once."""
        return self.call_soon(callback, *args, context=context)

    def call_later(
        self, delay: float, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Runs the callback when `delay` simulated seconds have passed."""
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Runs the callback at the loop's time `when`; those of one time run in the order in which they were asked for."""
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        heapq.heappush(self._timers, (when, self.next_sequence(), timer))
        return timer

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """asyncio calls this; cancelled timers are dropped when their time comes."""

    def create_future(self) -> asyncio.Future[Any]:
        """A future of this loop."""
        return SimulatedFuture(loop=self)

    def create_task(self, coro: Any, **kwargs: Any) -> asyncio.Task[Any]:
        """A task of this loop. Unnamed tasks are numbered by the loop, so that names are reproducible."""
        if kwargs.get("name") is None:
            kwargs["name"] = f"task-{self._sequence + 1}"
        kwargs.pop("eager_start", None)
        task: asyncio.Task[Any] = SimulatedTask(coro, loop=self, **kwargs)
        task.add_done_callback(self._task_ended)
        return task

    def get_task_factory(self) -> None:
        """There is none but the loop's own."""
        return

    # running

    def run_until_complete(self, future: Any) -> Any:
        """Runs until the future or coroutine is done, and gives its result."""
        task = asyncio.ensure_future(future, loop=self)

        def done(_: asyncio.Future[Any]) -> None:
            self.stop()

        task.add_done_callback(done)
        try:
            self.run_forever(waiting_for=task)
        finally:
            task.remove_done_callback(done)
        if not task.done():
            raise RuntimeError("the event loop was stopped before the future was done")
        return task.result()

    def run_forever(self, waiting_for: asyncio.Future[Any] | None = None) -> None:
        """Runs until `stop`."""
        if self._closed:
            raise RuntimeError("the event loop is closed")
        if self._running or events._get_running_loop() is not None:
            raise RuntimeError("an event loop is running already")
        self._running, self._stopping = True, False
        events._set_running_loop(self)
        try:
            while not self._stopping:
                self._step(waiting_for)
        finally:
            self._running = False
            events._set_running_loop(None)

    def _step(self, waiting_for: asyncio.Future[Any] | None) -> None:
        if not self._ready:
            self._advance(waiting_for)
        handle = self._ready.popleft()
        if handle.cancelled():
            return
        if (self._dead or self._paused) and self._is_kept_from_running(handle):
            return
        self.steps += 1
        handle._run()
        if self._failures:
            raise self._failures.pop(0)

    def _is_kept_from_running(self, handle: asyncio.Handle) -> bool:
        process = handle._context.get(PROCESS, "")  # type: ignore[attr-defined]
        for name in (process, process.partition("/")[0]):
            if name in self._dead:
                self.graveyard.append(handle)
                return True
            if name in self._paused:
                self._paused[name].append(handle)
                return True
        return False

    def _advance(self, waiting_for: asyncio.Future[Any] | None) -> None:
        while self._timers and self._timers[0][2].cancelled():
            heapq.heappop(self._timers)
        if not self._timers:
            waiting = sorted((task.get_name() for task in asyncio.all_tasks(self)), key=str)
            raise Deadlock(f"nothing is left that could happen, but {waiting_for or 'the loop'} is not done; waiting: {', '.join(waiting)}")
        self._now = max(self._now, self._timers[0][0])
        while self._timers and self._timers[0][0] <= self._now:
            timer = heapq.heappop(self._timers)[2]
            if not timer.cancelled():
                self._ready.append(timer)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is ready: all there is waits for a timer."""
        return not any(not handle.cancelled() for handle in self._ready)

    def stop(self) -> None:
        """Ends `run_forever` after the running callback."""
        self._stopping = True

    def is_running(self) -> bool:
        """Whether it runs."""
        return self._running

    def is_closed(self) -> bool:
        """Whether it is closed."""
        return self._closed

    def close(self) -> None:
        """Drops everything that has not happened yet."""
        if self._running:
            raise RuntimeError("a running event loop cannot be closed")
        self._closed = True
        self._ready.clear()
        self._timers.clear()

    # processes

    def kill(self, process: str) -> None:
        """Ends a simulated process at once: nothing of it ever runs again, not even a `finally`."""
        self._dead[process] = None
        self.graveyard.extend(self._paused.pop(process, []))
        self.graveyard.extend(
            task
            for task in asyncio.all_tasks(self)
            if isinstance(task, SimulatedTask) and process in (task.home.get(PROCESS, ""), task.home.get(PROCESS, "").partition("/")[0])
        )

    def pause(self, process: str) -> None:
        """Stops a simulated process where it is, as SIGSTOP does, or a machine that sleeps: time passes, and it does not notice."""
        self._paused.setdefault(process, [])

    def resume(self, process: str) -> None:
        """Lets it go on: what became ready meanwhile runs now, in that order."""
        self._ready.extend(self._paused.pop(process, []))

    def goes_on_in_child(self) -> None:
        """To be called first in a process that was forked while the loop ran: asyncio takes a running loop to be that of one process."""
        events._set_running_loop(self)

    # what goes wrong

    def get_exception_handler(self) -> Callable[[asyncio.AbstractEventLoop, dict[str, Any]], object] | None:
        """The handler that was set."""
        return self._handler

    def set_exception_handler(self, handler: Callable[[asyncio.AbstractEventLoop, dict[str, Any]], object] | None) -> None:
        """Who hears of exceptions in callbacks; without one they end the run."""
        self._handler = handler

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        """An exception that nobody will look at ends the run: a simulation that went on would hide it."""
        error = context.get("exception")
        self._failures.append(error if isinstance(error, BaseException) else RuntimeError(context.get("message", "unknown failure")))

    def _task_ended(self, task: asyncio.Task[Any]) -> None:
        """Keeps a task that failed. Else it would be up to the garbage collector when, or whether, its exception is found unseen."""
        if _is_unseen(task):
            self._failed_tasks.append(task)
            if len(self._failed_tasks) > 100:
                self._failed_tasks = [task for task in self._failed_tasks if _is_unseen(task)]

    def raise_unseen(self) -> None:
        """Raises the first exception of a task that has ended and that nobody has awaited: to be called when nobody will any more."""
        unseen = [task for task in self._failed_tasks if _is_unseen(task)]
        self._failed_tasks.clear()
        errors = [error for task in unseen if (error := task.exception()) is not None]
        if errors:
            raise errors[0]

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """asyncio calls this for exceptions that nobody will look at."""
        if self._handler is not None:
            self._handler(self, context)
        else:
            self.default_exception_handler(context)

    def get_debug(self) -> bool:
        """Always off."""
        return False

    def set_debug(self, enabled: bool) -> None:
        """asyncio's debug mode times callbacks by the machine's clock, so it is not there."""

    # asynchronous generators

    async def shutdown_asyncgens(self) -> None:
        """asyncio.Runner calls this at the end; generators are closed by whoever uses them."""

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """asyncio.Runner calls this at the end; there is no executor."""

    def run_in_executor(self, executor: Any, func: Callable[[Unpack[Ts]], T], *args: *Ts) -> NoReturn:
        """Threads come in through `world.threads`, which hands over strictly in simulation."""
        raise RuntimeError("run_in_executor is not there in simulated time; use a plain `def` reconciler or world.threads")

    # the network, and other programs

    async def getaddrinfo(self, host: Any, port: Any, **_: Any) -> NoReturn:
        """There is no network."""
        raise RuntimeError(f"the address of {host} cannot be asked for: there is no network in simulated time")

    async def create_connection(self, protocol_factory: Any, host: Any = None, port: Any = None, **_: Any) -> NoReturn:
        """There is no network."""
        raise RuntimeError(f"no connection to {host}:{port}: there is no network in simulated time; use a fake of the other side")

    async def create_server(self, protocol_factory: Any, host: Any = None, port: Any = None, **_: Any) -> NoReturn:
        """There is no network."""
        raise RuntimeError(f"no server on port {port}: there is no network in simulated time")

    async def subprocess_exec(self, protocol_factory: Any, program: Any, *args: Any, **_: Any) -> NoReturn:
        """There are no other programs."""
        raise RuntimeError(f"no other programs run in simulated time, so {program!r} cannot; use a fake of it")

    async def subprocess_shell(self, protocol_factory: Any, cmd: Any, **_: Any) -> NoReturn:
        """There are no other programs."""
        raise RuntimeError(f"no other programs run in simulated time, so {cmd!r} cannot; use a fake of it")


def _is_unseen(task: asyncio.Task[Any]) -> bool:
    """Whether a task has failed and nobody has asked it, as asyncio itself remembers; asking by `exception` would count as that."""
    return bool(task._log_traceback)


def new_loop() -> SimulatedLoop:
    """A fresh simulated loop."""
    # The type stubs call every method of AbstractEventLoop abstract; at run time those that are not overridden here raise, as they should.
    return SimulatedLoop()  # type: ignore[abstract]
