"""A server in the same process: its `handle` is called, no bytes go over a wire.

The server is another process all the same. What a client has asked for happens even if the client stops waiting or, in simulation, is
killed while the server works: where client and server carry different process tags, the server's half runs in a task of its own.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeAlias

from setpoint.api import ADMIN, Answer, ApiError, Identity, NotSent, Operation, Outcome, Status, Stream, Unknown
from setpoint.api.operation import ConnectionDropped
from setpoint.world import PROCESS

Handle: TypeAlias = Callable[[Operation, Identity], Awaitable[Answer | Stream]]

_log = logging.getLogger("setpoint.client")


class InProcessTransport:
    """Carries operations to a server's `handle`, as `identity`.

    `latency` gives the seconds that an operation is under way before the server sees it. `process` is the process tag that the server's
    half of the work carries.
    """

    def __init__(
        self,
        handle: Handle,
        identity: Identity = ADMIN,
        latency: Callable[[Operation], float] | None = None,
        *,
        process: str = "",
    ) -> None:
        self.identity = identity
        self.process = process
        self._handle = handle
        self._latency = latency
        self._closed = False

    async def send(self, operation: Operation, /) -> Outcome:
        """The server's answer. An exception in the server is an answer with code 500, as over HTTP, and is logged with its traceback."""
        if self._latency is not None and (seconds := self._latency(operation)) > 0:
            await asyncio.sleep(seconds)
        if self._closed:
            return NotSent("the connection to the embedded server is closed")
        if PROCESS.get() == self.process:
            return await self._answer(operation)
        return await asyncio.shield(self._in_server(self._answer(operation)))

    async def close(self) -> None:
        """Refuses what comes after."""
        self._closed = True

    async def _answer(self, operation: Operation) -> Answer | Stream | Unknown:
        try:
            return await self._handle(operation, self.identity)
        except ConnectionDropped as error:
            return Unknown(str(error))
        except ApiError as error:
            return error.status.answer()
        except Exception as error:
            _log.exception("the embedded server failed: %s", operation)
            message = f"the embedded server failed: {type(error).__name__}: {error}"
            return Status(code=500, reason="InternalError", message=message).answer()

    def _in_server(self, work: Coroutine[Any, Any, Answer | Stream | Unknown]) -> asyncio.Task[Answer | Stream | Unknown]:
        context = contextvars.Context()
        context.run(PROCESS.set, self.process)
        return asyncio.get_running_loop().create_task(work, name="embedded-server-request", context=context)
