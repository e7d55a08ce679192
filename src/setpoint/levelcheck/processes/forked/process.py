"""`Forked`: a simulated process that is the operating system's, as the run has it."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from importlib import import_module
from typing import Any

from setpoint.api import Answer, NotSent, Stream, Unknown
from setpoint.levelcheck.process import Surroundings
from setpoint.levelcheck.processes.forked import link as says
from setpoint.levelcheck.processes.forked.link import Link, packed, sendable, unpacked
from setpoint.levelcheck.processes.forked.server import ForkServer
from setpoint.levelcheck.processes.target import Target
from setpoint.levelcheck.processes.users_line import USERS_LINE
from setpoint.objects import Object, Request
from setpoint.world import PROCESS, World
from setpoint.world.loop import SimulatedLoop


class Forked:
    """A `SimulatedProcess` in an operating system's process, which runs when it is handed over to and stands still meanwhile."""

    def __init__(
        self, server: ForkServer, targets: Sequence[Target], name: str, around: Surroundings, world: World, loop: SimulatedLoop
    ) -> None:
        self.name = name
        self._server = server
        self._targets = tuple(targets)
        self._around = around
        self._world = world
        self._loop = loop
        self._link: Link | None = None
        self._pid = 0
        self._has_begun = False
        self._is_idle = False
        self._came: list[Any] = []
        self._turn_is_due: asyncio.Handle | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._streams: dict[int, Stream] = {}
        self._asked: dict[int, asyncio.Task[None]] = {}

    # what a run asks of it

    def start(self) -> None:
        """See `SimulatedProcess`."""
        around = self._around
        self._link, self._pid = self._server.fork(
            says.Begin(
                self.name,
                tuple(sys.path),
                self._targets,
                tuple(around.outside),
                around.assumptions,
                around.leader_election,
                around.seed,
                around.offset,
                self._loop.time(),
            )
        )
        # The first word is the child's: it begins at once, and says what it asks for.
        self._turn_is_due = self._loop.call_soon(self._first, context=self._inside())

    def kill(self) -> None:
        """See `SimulatedProcess`."""
        if self._link is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
        self._let_go()
        self._loop.kill(self.name)

    def pause(self) -> None:
        """See `SimulatedProcess`."""
        self._loop.pause(self.name)

    def resume(self) -> None:
        """See `SimulatedProcess`."""
        self._loop.resume(self.name)

    def shift_clock(self, by: timedelta) -> None:
        """See `SimulatedProcess`."""
        self._come(says.Shifted(by))

    def trigger(self, controller: str, request: Request) -> None:
        """See `SimulatedProcess`."""
        self._come(says.Triggered(controller, request))

    def trigger_all(self) -> None:
        """See `SimulatedProcess`."""
        self._come(says.Triggered())

    @property
    def is_idle(self) -> bool:
        """See `SimulatedProcess`."""
        return self._is_idle and self._turn_is_due is None

    @property
    def watched(self) -> Sequence[str]:
        """See `SimulatedProcess`."""
        return tuple(self._query("watched") or ())

    @property
    def primaries(self) -> Mapping[str, str]:
        """See `SimulatedProcess`."""
        return dict(self._query("primaries") or {})

    @property
    def memory(self) -> str:
        """See `SimulatedProcess`."""
        return str(self._query("memory") or "")

    def _query(self, what: str) -> Any:
        if self._link is None or not self._has_begun:
            return None
        try:
            self._link.send(says.Query(what))
            return self._link.receive()
        except EOFError:
            return None

    # handing over

    def _inside(self, process: str = "", line: str = "") -> contextvars.Context:
        """The context of what happens here on the process's behalf: it ends, and stands still, with the process."""
        context = contextvars.Context()
        context.run(PROCESS.set, process or self.name)
        context.run(USERS_LINE.set, line)
        return context

    def _come(self, came: Any) -> None:
        """Something has come in for the child, which has its turn as soon as may be."""
        self._came.append(came)
        if self._turn_is_due is None and self._has_begun and self._link is not None:
            self._turn_is_due = self._loop.call_soon(self._turn, context=self._inside())

    def _first(self) -> None:
        self._turn_is_due = None
        self._listen()
        if self._came:
            self._come(self._came.pop())

    def _turn(self) -> None:
        self._turn_is_due = None
        if self._link is None:
            return
        came, self._came = self._came, []
        try:
            self._link.send(says.Turn(self._loop.time(), came))
        except EOFError:
            self._gone()
            return
        self._listen()

    def _listen(self) -> None:
        """Waits until the child hands back, and answers meanwhile what it must know at once."""
        while self._link is not None:
            try:
                message = self._link.receive()
                if isinstance(message, says.Now):
                    answer = self._inside(message.process).run(self._at_once, message)
                    try:
                        self._link.send(answer)
                    except TypeError as error:
                        self._link.send(says.Answered(0, None, error))
                    continue
            except EOFError:
                self._gone()
                return
            self._handed_back(message)
            return

    def _handed_back(self, idle: says.Idle) -> None:
        self._has_begun = True
        self._is_idle = idle.is_idle
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if idle.due is not None:
            self._timer = self._loop.call_at(idle.due, self._turn, context=self._inside())
        for said in idle.said:
            match said:
                case says.Heard(event, line):
                    self._inside(line=line).run(self._around.hear, event)
                case says.Asked(number, process, line, what):
                    task = self._loop.create_task(self._answer(number, what), context=self._inside(process, line))
                    self._asked[number] = task
                case says.Cancelled(number):
                    if number in self._asked:
                        self._asked[number].cancel()
                case says.Unhandled(text, error):
                    self._loop.call_exception_handler({"message": text, "exception": error})
                case says.Ended(error):
                    self._let_go()
                    self._around.ended(error)

    def _gone(self) -> None:
        """It has ended without having been killed from here."""
        self._let_go()
        self._around.ended(RuntimeError("the process ended without a word; does a reconciler loop for ever, or end the program?"))

    def _let_go(self) -> None:
        if self._link is not None:
            self._link.close()
        self._link = None
        self._is_idle = False
        for handle in (self._timer, self._turn_is_due):
            if handle is not None:
                handle.cancel()

    # what the child asks for

    async def _answer(self, number: int, what: Any) -> None:
        try:
            value = await self._done(number, what)
            answered = says.Answered(number, value)
        except Exception as error:
            answered = says.Answered(number, None, sendable(error))
        finally:
            del self._asked[number]
        self._come(answered)

    async def _done(self, number: int, what: Any) -> Any:
        around = self._around
        match what:
            case says.Send(operation):
                outcome = await around.transport.send(operation)
                if isinstance(outcome, Answer | NotSent | Unknown):
                    return outcome
                self._streams[number] = outcome
                return says.Opened(number)
            case says.ReadOn(stream, False):
                return await self._streams[stream].read()
            case says.ReadOn(stream, True):
                return await self._streams.pop(stream).close()
            case says.Install(kinds):
                return await around.install([_kind(module, name) for module, name in kinds])
            case says.Call(fake, name, arguments):
                method = getattr(around.outside[fake], name)
                args, kwargs = unpacked(arguments)
                if inspect.iscoroutinefunction(method):
                    return packed(await method(*args, **kwargs))
                return packed(await self._world.threads.run(partial(method, *args, **kwargs)))
        raise TypeError(f"{what!r} is nothing that can be asked")

    def _at_once(self, asked: says.Now) -> says.Answered:
        fake = self._around.outside[asked.fake]
        try:
            match asked.how:
                case "look":
                    return says.Answered(0, _looked(getattr(fake, asked.name)))
                case "set":
                    setattr(fake, asked.name, *asked.args)
                    return says.Answered(0)
            return says.Answered(0, getattr(fake, asked.name)(*asked.args, **asked.kwargs))
        except Exception as error:
            return says.Answered(0, None, sendable(error))


def _looked(value: Any) -> says.Looked:
    if not callable(value):
        return says.Looked("value", value)
    return says.Looked("async" if inspect.iscoroutinefunction(value) else "plain")


def _kind(module: str, name: str) -> type[Object]:
    """A kind of the child's, as this process knows it."""
    found: Any = sys.modules.get(module) or import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    kind: type[Object] = found
    return kind
