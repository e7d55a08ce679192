"""`Connection`: one server, one world. It turns the outcomes of a transport into answers or typed errors.

Everything that all verbs share is here, once: a deadline for every call, a bound on requests in flight, the write fence, patience with a
server that asks for it, and the observer's events.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from copy import copy
from dataclasses import replace
from email.utils import parsedate_to_datetime
from typing import Any, Protocol, TypeVar, runtime_checkable

import msgspec

from setpoint.api import Answer, Connects, Duplex, NotSent, Operation, Stream, Transport, Unknown
from setpoint.api.paths import is_segment
from setpoint.client.dispatch import HeldBack, fenced
from setpoint.client.errors import answered, not_leading, outcome_unknown, unreachable
from setpoint.client.events import RequestDone, RequestRepeated, RequestSent, code_of
from setpoint.world import Observer, World

_log = logging.getLogger("setpoint.client")

T = TypeVar("T")

TRIES = 10
"""How often one call is sent at most while the server asks to come back later."""
_WARNINGS_KEPT = 1000


@runtime_checkable
class Separable(Protocol):
    """A transport that can be had once more, for another thread's event loop."""

    def another(self) -> Transport:
        """A way to the same server that shares nothing with this one."""
        ...


class NotYetSent(NotSent, frozen=True):
    """Nothing happened, and it may be sent now: what it lacked, which took a while, is there.

    That while may have been long enough for a write to be no longer allowed, so it is for the connection to send it again. A transport that
    says so for ever is sent to no more than `TRIES` times.
    """


def _open() -> str | None:
    return None


class Connection:
    """One server, one world.

    `timeout` is the seconds that a call may take where its operation has no deadline, waiting for its turn and repeated tries included;
    for a watch, the seconds until the server has accepted it. At most `max_in_flight` requests are under way at a time; accepted watches
    do not count. What the server warns of is logged, once each, unless `say_warnings` is false.

    `fence` is asked right before each write is dispatched, and again right before its first byte leaves where that takes a while: a reason
    holds it back as `NotLeading`.
    """

    def __init__(
        self,
        transport: Transport,
        world: World,
        *,
        user_agent: str = "setpoint",
        timeout: float = 30.0,
        max_in_flight: int = 100,
        say_warnings: bool = True,
    ) -> None:
        self.world = world
        self.user_agent = user_agent
        self.timeout = timeout
        self.fence: Callable[[], str | None] = _open
        self._transport = transport
        self._slots = asyncio.Semaphore(max_in_flight)
        self._say_warnings = say_warnings
        self._warned: dict[str, None] = {}
        self._writing: dict[asyncio.Timeout, None] = {}

    async def call(self, operation: Operation) -> Answer:
        """The server's answer, which is never a failed one.

        Raises the `ApiError` that a failed answer stands for; `Unreachable` where nothing can have happened; `OutcomeUnknown` for a write
        that was sent and got no answer; `NotLeading` for a write that the fence held back; and `ValueError` for a name or namespace that
        would lead to another object.

        A request that is answered 429, or 503 with a time to come back, was not executed: it is sent again, after as long as the server
        asks, until the deadline. Whatever else failed in the server may have been executed: a read is sent again where a time is named, a
        write is not. A read that got no answer is sent once more, since a kept-alive connection may have been closed just then. One that
        is answered 401 is sent again where the transport has come by other credentials.
        """
        outcome = await self._outcome(operation, self._transport.send)
        if isinstance(outcome, Answer):
            return outcome
        await outcome.close()
        raise unreachable("the server answered with a stream where a document was asked for", operation)

    async def connect(self, operation: Operation, protocols: tuple[str, ...]) -> Duplex:
        """A connection both ways that speaks one of the protocols; whoever calls closes it. Raises as `call` does.

        A server without them, such as the embedded one, is asked all the same, since it knows best what is missing.
        """
        transport = self._transport
        if not isinstance(transport, Connects):
            await self.call(operation)
            raise unreachable("this way to the server carries no connections both ways, and what was asked for needs one", operation)
        outcome = await self._outcome(operation, lambda operation: transport.connect(operation, protocols))
        if isinstance(outcome, Answer):
            raise unreachable("the server answered with a document: does a proxy stand in between that knows no websockets?", operation)
        return outcome

    async def watch(self, operation: Operation) -> Stream:
        """The stream of a watch that the server accepted; whoever calls closes it. Raises as `call` does."""
        outcome = await self._outcome(operation, self._transport.send)
        if isinstance(outcome, Answer):
            raise unreachable("the server answered a watch with a document: does a proxy stand in between?", operation)
        return outcome

    async def close(self) -> None:
        """Lets go of the transport's connections."""
        await self._transport.close()

    def cut_writes(self) -> None:
        """Stops waiting for the writes that are under way: what they come to is unknown. The fence is not touched."""
        now = asyncio.get_running_loop().time()
        for timeout in self._writing:
            if not timeout.expired():  # its time has run out by itself, and it is not gone yet
                timeout.reschedule(now)

    def heard_by(self, observer: Observer) -> Connection:
        """This connection as one of several users has it: this observer hears what it asks. The fence is its own, all else is shared."""
        own = copy(self)
        own.world = replace(self.world, observer=observer)
        return own

    def beside(self, *, timeout: float) -> Connection:
        """Another connection over the same transport: with its own bound on requests in flight and time-out, and without the fence."""
        return Connection(self._transport, self.world, user_agent=self.user_agent, timeout=timeout)

    def apart(self, world: World, *, timeout: float) -> Connection | None:
        """Another connection to the same server that shares nothing with this one, for another thread's event loop.

        None where there is no such thing: the server is within this event loop.
        """
        if not isinstance(self._transport, Separable):
            return None
        return Connection(self._transport.another(), world, user_agent=self.user_agent, timeout=timeout)

    async def _outcome(self, operation: Operation, send: Callable[[Operation], Awaitable[Answer | NotSent | Unknown | T]]) -> Answer | T:
        for what, text in (("name", operation.name), ("namespace", operation.namespace)):
            if not is_segment(text):  # it may come from anybody's object
                raise ValueError(f"{operation}: {text!r} is no {what}: it must not be '.' or '..', nor contain '/' or '%'")
        loop = asyncio.get_running_loop()
        deadline = operation.deadline if operation.deadline is not None else loop.time() + self.timeout
        operation = msgspec.structs.replace(operation, deadline=deadline, user_agent=operation.user_agent or self.user_agent)
        tries, repeated = 0, False
        while True:
            outcome = await self._try(operation, deadline, send)
            tries += 1
            if isinstance(outcome, Answer):
                if outcome.warnings and self._say_warnings:
                    self._warn(outcome, operation)
                if outcome.ok:
                    return outcome
                wait = self._seconds_to_wait(outcome, operation)
                if wait is None or tries >= TRIES or loop.time() + wait >= deadline:
                    raise answered(outcome, operation)
                await asyncio.sleep(wait)
            elif isinstance(outcome, NotYetSent) and tries < TRIES and loop.time() < deadline:
                continue
            elif isinstance(outcome, HeldBack):
                raise not_leading(outcome.reason, operation)
            elif isinstance(outcome, NotSent):
                raise unreachable(outcome.reason, operation)
            elif isinstance(outcome, Unknown):
                if operation.is_write:
                    raise outcome_unknown(outcome.reason, operation)
                if repeated or loop.time() >= deadline:
                    raise unreachable(outcome.reason, operation)
                repeated = True
            else:
                return outcome
            if self.world.observer.heard:
                self.world.observer.emit(RequestRepeated(operation=operation, code=code_of(outcome)))

    async def _try(
        self, operation: Operation, deadline: float, send: Callable[[Operation], Awaitable[Answer | NotSent | Unknown | T]]
    ) -> Answer | NotSent | Unknown | T:
        """One request: waits for its turn, passes the fence, is handed over, and is told of."""
        clock, observer = self.world.clock, self.world.observer
        asked = clock.monotonic()
        started: float | None = None
        outcome: Answer | NotSent | Unknown | T
        try:
            async with asyncio.timeout_at(deadline) as timeout, self._slots:
                if operation.is_write:
                    if (reason := self.fence()) is not None:
                        raise not_leading(reason, operation)
                    self._writing[timeout] = None
                started = clock.monotonic()
                if observer.heard:
                    observer.emit(RequestSent(operation=operation, waited=started - asked))
                try:
                    with fenced(self.fence if operation.is_write else None):
                        outcome = await send(operation)
                finally:
                    self._writing.pop(timeout, None)
        except TimeoutError:
            if started is None:
                return NotSent("its turn did not come before its deadline: too many requests are in flight, or the server is too slow")
            outcome = Unknown("no answer came before the deadline")
        except asyncio.CancelledError:
            if started is not None:
                self._done(operation, Unknown("the caller stopped waiting"), started)
            raise
        self._done(operation, outcome, started)
        return outcome

    def _done(self, operation: Operation, outcome: Any, started: float) -> None:
        world = self.world
        if world.observer.heard:
            seconds = world.clock.monotonic() - started
            world.observer.emit(RequestDone(operation=operation, outcome=outcome, seconds=seconds, code=code_of(outcome)))

    def _seconds_to_wait(self, answer: Answer, operation: Operation) -> float | None:
        """How long the server asks to wait before the same is sent again; None where sending it again is not safe, or not asked for."""
        after = self._asked_to_wait(answer.headers.get("retry-after", ""))
        if answer.status == 429:
            return 1.0 if after is None else after
        if answer.status == 503 or (answer.status >= 500 and not operation.is_write):
            return after
        return None

    def _asked_to_wait(self, header: str) -> float | None:
        """Seconds, which a server gives as such; a proxy may give a date. https://httpwg.org/specs/rfc9110.html#field.retry-after"""
        if header.isascii() and header.isdigit():
            return float(header)
        try:
            at = parsedate_to_datetime(header)
        except (ValueError, OverflowError):  # no date, or one with a number beyond all dates
            return None
        return max(0.0, (at - self.world.clock.now()).total_seconds()) if at.tzinfo is not None else None

    def _warn(self, answer: Answer, operation: Operation) -> None:
        """Says each of the server's warnings once."""
        for text in answer.warnings:
            if text not in self._warned and len(self._warned) < _WARNINGS_KEPT:
                self._warned[text] = None
                _log.warning("the server warns: %s: %s", operation, text)
