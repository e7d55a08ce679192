"""One run of a reconciler: called with a context and a request, ended at its deadline, its result checked.

Whatever ran it, the reconciler sees the same: the context variables are a fresh copy of those at the start, the task has the controller's
name, and a plain `def` one gets a thread of the pool.
"""

from __future__ import annotations

import asyncio
import contextvars
import sys
from datetime import timedelta
from typing import Any

from setpoint.objects import Request

from .context import Context
from .controller import Controller
from .result import Result
from .said import log
from .sync_context import SyncContext
from .thread_pool import ThreadPool
from .tools import RunState, Tools


class WrongResult(TypeError):
    """A reconciler returned what is neither None nor a `Result`."""


class DeadlineExceeded(Exception):
    """A run took longer than its controller's deadline."""


class Runner:
    """Runs one controller's reconciler. Holds nothing that changes from run to run."""

    def __init__(self, controller: Controller[Any], tools: Tools, pool: ThreadPool) -> None:
        self._controller = controller
        self._pool = pool
        self._reconciler = controller.declared_reconciler
        self._tools = tools
        self._pristine = contextvars.copy_context()

    async def run(self, request: Request, state: RunState) -> Result | None:
        """Runs it to its end, and raises what it raises; `DeadlineExceeded` where it had to be ended, `WrongResult` for a wrong one.

        When this is cancelled, so is the run, and waited for. No second run of the key can start while something of the first goes on.
        """
        loop = asyncio.get_running_loop()
        task = loop.create_task(self._call(request, state), name=self._controller.name, context=self._pristine.copy())
        deadline = self._controller.deadline
        try:
            result = await task if deadline is None else await self._in_time(task, deadline)
        finally:
            state.ended = "its run has ended"
        return _checked(result, self._reconciler.name)

    async def _in_time(self, task: asyncio.Task[Any], deadline: float) -> Any:
        limit = asyncio.timeout(deadline)
        ended_by: Exception | None = None
        result = None
        try:
            async with limit:
                result = await task
        except Exception as error:
            if not limit.expired():
                raise
            ended_by = error
        if limit.expired():  # also where the reconciler has caught the cancellation, and returned or raised something else
            raise DeadlineExceeded(f"it ran for more than its deadline of {deadline:g} s and was ended") from ended_by
        return result

    async def _call(self, request: Request, state: RunState) -> Any:
        context = Context(self._tools, request, state)
        if self._reconciler.is_async:
            try:
                return await self._reconciler.call(context, request)
            except SystemExit as error:
                raise _no_exit(error) from error
        name = self._controller.name
        await self._pool.acquire(name)
        try:
            return await self._in_a_thread(context, request, state)
        finally:
            self._pool.release(name)

    async def _in_a_thread(self, context: Context, request: Request, state: RunState) -> Any:
        call, threads = self._reconciler.call, self._tools.world.threads

        def blocking_call(context: SyncContext, request: Request) -> Any:
            try:
                return call(context, request)
            except SystemExit as error:
                raise _no_exit(error) from error

        blocking = threads.run(blocking_call, SyncContext(context, threads), request)
        thread = asyncio.get_running_loop().create_task(blocking, name=self._controller.name)
        try:
            return await asyncio.shield(thread)
        except asyncio.CancelledError:
            if thread.done():
                raise
            # A thread cannot be ended from outside. Its next verb raises; until it is out, the key stays taken.
            state.ended = "its run was ended, at its deadline or because the program stops"
            log.warning(
                "a run goes on in its thread after it was ended; its next ctx call will raise",
                extra={"controller": self._controller.name, "request": str(request)},
            )
            await _until_done(thread)
            raise


def _no_exit(error: SystemExit) -> RuntimeError:
    """What becomes of `sys.exit`: an ordinary failure. Out of a task it would tear down the event loop, and everything else there."""
    return RuntimeError(f"sys.exit({error.code!r}) was called, but a reconciler cannot end the program; raise an error")


async def _until_done(thread: asyncio.Future[Any]) -> None:
    """Waits for it, however often the waiting is cancelled; what came of it does not matter any more."""
    while not thread.done():
        try:
            await asyncio.wait([thread])
        except asyncio.CancelledError:
            continue
    if not thread.cancelled():
        thread.exception()


def _checked(result: Any, name: str) -> Result | None:
    if result is None or isinstance(result, Result):
        if result is not None:
            _check_seconds(result, name)
        return result
    if asyncio.iscoroutine(result):
        result.close()
        raise WrongResult(f'the reconciler {name} returned a coroutine that nobody awaits: declare it "async def", or return no coroutine')
    raise WrongResult(f"the reconciler {name} returned {_short(result)}: return None, or Result(requeue_after=...)")


def _check_seconds(result: Result, name: str) -> None:
    after = result.requeue_after
    if isinstance(after, int | float) and not isinstance(after, bool):
        valid = abs(after) <= sys.float_info.max  # NaN is not
    else:
        valid = after is None or isinstance(after, timedelta)
    if not valid:
        raise WrongResult(
            f"the reconciler {name} returned Result(requeue_after={_short(after)}): use a finite number of seconds, a timedelta, or None"
        )
    priority = result.priority
    if priority is not None and (after is None or isinstance(priority, bool) or not isinstance(priority, int)):
        raise WrongResult(
            f"the reconciler {name} returned Result(priority={_short(priority)}): it is a whole number, and that of the run which "
            "requeue_after asks for"
        )


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:100]}..."
