"""The forked process: the production code on a loop of its own, which hands over whenever it has nothing to do.

It is an `InLoop` like any other; what is around it, it has by its link.
"""

from __future__ import annotations

import asyncio
import heapq
import importlib
import inspect
import sys
from collections.abc import Sequence
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from setpoint.api import Operation, Outcome
from setpoint.client.events import RequestDone, RequestSent
from setpoint.levelcheck.process import InLoop, Surroundings, users_chance
from setpoint.levelcheck.processes.forked import link as says
from setpoint.levelcheck.processes.forked.link import Link, packed, sendable, unpacked
from setpoint.levelcheck.processes.fresh import Loaded
from setpoint.levelcheck.processes.seal import sealed
from setpoint.levelcheck.processes.target import Target
from setpoint.levelcheck.run.wire import users_line
from setpoint.manager.importing import is_library
from setpoint.objects import Object
from setpoint.world import PROCESS, Event, HandOverThreads, simulated_world
from setpoint.world.loop import SimulatedLoop


def live(begin: says.Begin, link: Link) -> None:
    """Lives until it is killed, or the run is over, which raises `EOFError`."""
    sys.path[:] = begin.path
    # The type stubs call every method of AbstractEventLoop abstract; at run time those that are not overridden here raise, as they should.
    loop = ChildLoop(link, begin.now)  # type: ignore[abstract]
    around = Surroundings(
        load=partial(_load, begin.targets),
        outside={name: Fake(loop, name) for name in begin.outside},
        transport=Wire(loop),
        install=partial(_install, loop),
        hear=loop.hear,
        ended=lambda error: loop.say(says.Ended(sendable(error))),
        assumptions=begin.assumptions,
        leader_election=begin.leader_election,
        seed=begin.seed,
        offset=begin.offset,
    )
    process = InLoop(begin.name, around, simulated_world(loop, seed=begin.seed), loop)
    loop.process = process
    chance = users_chance(around, begin.name)
    with sealed(clock_of=lambda name: process.clock, chance_of=lambda name: chance):
        process.start()
        loop.run_forever()


class ChildLoop(SimulatedLoop):
    """A loop that hands over when nothing is ready, and learns then what time it is."""

    def __init__(self, link: Link, now: float) -> None:
        super().__init__()
        self._link = link
        self._now = now
        self._said: list[Any] = []
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self.process: InLoop | None = None
        self.set_exception_handler(self._unhandled)
        self.looked: dict[tuple[str, str], str] = {}

    def say(self, message: Any) -> None:
        """To be heard at the end of this turn."""
        self._said.append(message)

    def hear(self, event: Event) -> None:
        """An event of the process is said as it is; an exception in it may have to be replaced. Of requests, the other side knows."""
        if isinstance(event, RequestSent | RequestDone):
            return
        error = getattr(event, "error", None)
        if isinstance(error, BaseException):
            event = msgspec.structs.replace(event, error=sendable(error))
        self.say(says.Heard(event, users_line()))

    async def ask(self, what: Any) -> Any:
        """Has something done outside, and waits for what comes of it."""
        number = self.next_sequence()
        answer = self._asked[number] = self.create_future()
        self.say(says.Asked(number, PROCESS.get(), users_line(), what))
        try:
            return await answer
        except asyncio.CancelledError:
            self.say(says.Cancelled(number))
            raise
        finally:
            del self._asked[number]

    def ask_now(self, what: says.Now) -> Any:
        """Has something looked up outside, at once: whoever runs here is in the middle of something."""
        self._link.send(what)
        answer: says.Answered = self._link.receive()
        if answer.error is not None:
            raise answer.error
        return answer.value

    def _advance(self, waiting_for: asyncio.Future[Any] | None) -> None:
        while not self._ready:
            while self._timers and self._timers[0][2].cancelled():
                heapq.heappop(self._timers)
            said, self._said = self._said, []
            assert self.process is not None
            self._link.send(says.Idle(said, self._timers[0][0] if self._timers else None, self.process.is_idle))
            turn = self._next_turn()
            self._now = turn.now
            while self._timers and self._timers[0][0] <= self._now:
                timer = heapq.heappop(self._timers)[2]
                if not timer.cancelled():
                    self._ready.append(timer)
            for each in turn.came:
                self._take(each)

    def _next_turn(self) -> says.Turn:
        while True:
            message = self._link.receive()
            if isinstance(message, says.Turn):
                return message
            self._link.send(getattr(self.process, message.what))

    def _take(self, came: Any) -> None:
        assert self.process is not None
        match came:
            case says.Answered(number, value, error):
                answer = self._asked.get(number)
                if answer is None or answer.done():
                    return
                if error is None:
                    answer.set_result(value)
                else:
                    answer.set_exception(error)
            case says.Triggered(controller, request):
                if request is None:
                    self.process.trigger_all()
                else:
                    self.process.trigger(controller, request)
            case says.Shifted(by):
                self.process.shift_clock(by)

    def _unhandled(self, loop: object, context: dict[str, Any]) -> None:
        self.say(says.Unhandled(str(context.get("message", "")), sendable(context.get("exception"))))


class Wire:
    """The child's `Transport`."""

    def __init__(self, loop: ChildLoop) -> None:
        self._loop = loop

    async def send(self, operation: Operation, /) -> Outcome:
        """See `Transport`."""
        outcome = await self._loop.ask(says.Send(operation))
        if isinstance(outcome, says.Opened):
            return Line(self._loop, outcome.stream)
        answered: Outcome = outcome
        return answered

    async def close(self) -> None:
        """See `Transport`."""


class Line:
    """A watch of the child; a `Stream`."""

    def __init__(self, loop: ChildLoop, number: int) -> None:
        self._loop = loop
        self._number = number

    async def read(self) -> list[bytes] | None:
        """See `Stream`."""
        frames: list[bytes] | None = await self._loop.ask(says.ReadOn(self._number))
        return frames

    async def close(self) -> None:
        """See `Stream`."""
        await self._loop.ask(says.ReadOn(self._number, end=True))


class Fake:
    """What a child has of a fake, which lives in the process of the run."""

    def __init__(self, loop: ChildLoop, name: str) -> None:
        self.__dict__.update(_loop=loop, _name=name)

    def __getattr__(self, attribute: str) -> Any:
        loop: ChildLoop = self.__dict__["_loop"]
        name: str = self.__dict__["_name"]
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        if (name, attribute) not in loop.looked:
            looked: says.Looked = loop.ask_now(says.Now(PROCESS.get(), name, attribute, "look"))
            if looked.sort == "value":
                return looked.value  # which may be another one next time
            loop.looked[name, attribute] = looked.sort
        call = self._call_async if loop.looked[name, attribute] == "async" else self._call_plainly
        return partial(call, attribute)

    def __setattr__(self, attribute: str, value: Any) -> None:
        loop: ChildLoop = self.__dict__["_loop"]
        loop.ask_now(says.Now(PROCESS.get(), self.__dict__["_name"], attribute, "set", (value,)))

    async def _call_async(self, attribute: str, /, *args: Any, **kwargs: Any) -> Any:
        loop: ChildLoop = self.__dict__["_loop"]
        return unpacked(await loop.ask(says.Call(self.__dict__["_name"], attribute, packed((args, kwargs)))))

    def _call_plainly(self, attribute: str, /, *args: Any, **kwargs: Any) -> Any:
        loop: ChildLoop = self.__dict__["_loop"]
        if asyncio._get_running_loop() is None:  # the thread of a plain `def` reconciler
            return HandOverThreads().call(partial(self._call_async, attribute, *args, **kwargs))
        return loop.ask_now(says.Now(PROCESS.get(), self.__dict__["_name"], attribute, "call", args, kwargs))


async def _install(loop: ChildLoop, kinds: Sequence[type[Object]]) -> None:
    await loop.ask(says.Install(tuple((kind.__module__, kind.__qualname__) for kind in kinds)))


def _load(targets: Sequence[Target]) -> Loaded:
    """Imports the user's modules, as any program does."""
    before = dict(sys.modules)
    values: list[Any] = []
    for target in targets:
        value = target.of(_imported(target))
        values += value if isinstance(value, list) else [value]
    own = {name: module for name, module in sys.modules.items() if name not in before and _is_users(module)}
    return Loaded(values, own)


def _is_users(module: Any) -> bool:
    file = getattr(module, "__file__", None) or "<"
    return isinstance(module, ModuleType) and file != "<" and not is_library(file) and module.__name__ != "__main__"


def _imported(target: Target) -> ModuleType:
    """By its name, if that leads to its file, and else by its file, as where a test's module is not on the path."""
    if target.module in sys.modules:
        return sys.modules[target.module]
    try:
        module = importlib.import_module(target.module)
        if Path(inspect.getfile(module)).resolve() == Path(target.file):
            return module
    except ModuleNotFoundError as error:
        if error.name is None or not f"{target.module}.".startswith(f"{error.name}."):
            raise
    spec = spec_from_file_location(target.module, target.file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[target.module] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
