"""The scenery that every test here shares: a kind, a place where a run waits for the test, and what a cluster is asked for."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import msgspec

from setpoint import Client, Condition, Conflict, Controller, Manager, ObjectMeta, Resource, Struct, kind
from setpoint.api import Operation, Transport
from setpoint.api.operation import JSON, MERGE_PATCH, Verb
from setpoint.client import Connection
from setpoint.client.install import install
from setpoint.manager import Options
from setpoint.objects import KindInfo, Object
from setpoint.world import PROCESS, Event

from .faults import Line

T = TypeVar("T")
K = TypeVar("K", bound=Object)
E = TypeVar("E", bound=Event)


class ThingSpec(Struct):
    value: str = ""
    size: int = 1


class ThingStatus(Struct):
    phase: str = ""
    seen: str = ""
    count: int = 0
    conditions: list[Condition] = []


@kind(group="pains.example.com", version="v1")
class Thing(Resource[ThingSpec, ThingStatus]):
    """What the controllers of these tests are about."""


class Gate:
    """A place in a reconciler: whoever comes by waits there until the test opens it. It stays open."""

    def __init__(self) -> None:
        self.reached = False
        self._open = asyncio.Event()

    async def passed(self) -> None:
        """For the reconciler."""
        self.reached = True
        await self._open.wait()

    def open(self) -> None:
        """For the test."""
        self._open.set()


@dataclass
class Hosted:
    """A process with a manager of its own."""

    manager: Manager
    line: Line
    life: asyncio.Task[None]


class Scene:
    """What tests ask of a cluster, beside what `setpoint.testing.Cluster` gives: the same calls on the embedded and on a real one."""

    namespace: str
    world: Any
    create: Callable[[Any], Any]
    update: Callable[[Any], Any]
    refresh: Callable[[Any], Any]
    start: Callable[..., None]
    stop: Callable[[], None]
    advance: Callable[[timedelta], None]
    way: Callable[[], Transport]
    _client: Client
    _loop: asyncio.AbstractEventLoop
    _run: Callable[[Any], Any]

    def listen(self) -> None:
        """Begins to keep what happens."""
        self.events: list[Event] = []
        self.managers: list[Manager] = []
        self.hosted: list[Hosted] = []
        self.world.observer.subscribe(self.events.append)

    def ask(self, what: Callable[[Client], Awaitable[T]]) -> T:
        """Does something with a client that knows all that there is."""
        done: T = self._run(what(self._client))
        return done

    @property
    def now_in_seconds(self) -> float:
        """The time in the event loop."""
        return self._loop.time()

    def within(self, call: Callable[[], object]) -> None:
        """Does something that has to be done in the event loop."""

        async def do() -> None:
            call()

        self._run(do())

    def send(self, verb: Verb, info: KindInfo, name: str = "", content: object = None, *, subresource: str = "", **options: str) -> Any:
        """One request as such, in the namespace of the test, and the JSON that answers it."""
        operation = Operation(
            verb=verb,
            resource=info.group_version_resource,
            namespace=self.namespace if info.namespaced else "",
            name=name,
            subresource=subresource,
            body=b"" if content is None else msgspec.json.encode(content),
            content_type=MERGE_PATCH if verb == "patch" else JSON,
            options=options,
        )
        return msgspec.json.decode(self.ask(lambda client: client.connection.call(operation)).body)

    def heard(self, kind: type[E], **fields: object) -> list[E]:
        """The events of a kind so far, those with these fields."""
        return [e for e in self.events if isinstance(e, kind) and all(getattr(e, name) == value for name, value in fields.items())]

    def meta(self, name: str = "", **more: Any) -> ObjectMeta:
        """Metadata of an object in the namespace of the test."""
        return ObjectMeta(name=name or None, namespace=self.namespace, **more)

    def thing(self, name: str = "a", *, labels: dict[str, str] | None = None, finalizers: tuple[str, ...] = (), **spec: Any) -> Thing:
        """Creates a Thing."""
        metadata = self.meta(name, labels=labels or {}, finalizers=list(finalizers))
        made: Thing = self.create(Thing(metadata=metadata, spec=ThingSpec(**spec)))
        return made

    def change(self, obj: K, change: Callable[[K], object]) -> K:
        """Changes an object as the server has it, as often as it takes: the controller may write it at the same time."""
        while True:
            current: K = self.refresh(obj)
            change(current)
            try:
                updated: K = self.update(current)
            except Conflict:
                continue
            return updated

    def edit(self, thing: Thing, **spec: Any) -> Thing:
        """Sets fields of a Thing's spec."""
        return self.change(thing, lambda found: [setattr(found.spec, name, value) for name, value in spec.items()])

    def launch(
        self,
        *controllers: Controller[Any],
        prepare: Callable[[Line], object] = lambda line: None,
        around: Callable[[Transport], Transport] = lambda inner: inner,
        configure: Callable[[Manager], object] = lambda manager: None,
    ) -> Line:
        """Starts a process that runs them, and gives its line to the server. Line and manager may be seen to before anything begins,
        and something may be put around the way that is beyond the line."""
        lines: list[Line] = []
        started = len(self.managers)

        def through(inner: Transport) -> Line:
            lines.append(Line(around(inner)))
            prepare(lines[0])
            return lines[0]

        self.start(_process(self.managers, controllers, configure), through=through)
        self.until(lambda: len(self.managers) > started and self.managers[-1].has_started, "the start")
        return lines[0]

    def host(self, *controllers: Controller[Any], options: Options, name: str = "", installing: bool = True) -> Hosted:
        """Starts a process whose manager has options of its own. It is not waited for; nobody minds if it ends."""

        async def begin() -> Hosted:
            line = Line(self.way())
            manager = Manager(Connection(line, self.world, user_agent="pains"), options=options)
            manager.add(*controllers)

            async def life() -> None:
                kinds = [kind for kind in manager.kinds if installing and kind.__module__[:8] != "setpoint"]
                await install(self._client, kinds)
                await manager.run()

            return Hosted(manager, line, asyncio.create_task(life(), name=name or "process"))

        context = contextvars.copy_context()
        context.run(PROCESS.set, name)
        hosted: Hosted = self._run(self._loop.create_task(begin(), context=context))
        self.hosted.append(hosted)
        return hosted

    def end(self, *processes: Hosted) -> None:
        """Tells processes to end, one after the other, and waits until they have; how does not matter."""
        for process in processes:
            if not process.life.done():
                process.manager.stop()
                self.until(process.life.done, "the end")
            process.life.exception()
            self._run(process.line.close())

    def kill(self, line: Line) -> None:
        """Kills the process at the other end of this line; nothing that it does afterwards reaches the server."""
        line.die()
        self.stop()

    def until(self, found: Callable[[], T], what: str = "it") -> T:
        """Lets time pass until something is found that is true, and gives it."""
        for _ in range(1200):
            value = found()
            if value:
                return value
            self.advance(timedelta(seconds=0.25))
        raise AssertionError(f"{what} has not come about")

    def metric(self, name: str, **labels: str) -> float:
        """A number that the last process exposes; 0 if it does not."""
        return self.managers[-1].metrics.registry.get_sample_value(name, labels) or 0.0


def _process(managers: list[Manager], controllers: tuple[Controller[Any], ...], configure: Callable[[Manager], object]) -> Any:
    @asynccontextmanager
    async def app(manager: Manager) -> AsyncIterator[None]:
        managers.append(manager)
        configure(manager)
        manager.add(*controllers)
        yield

    return app


def errors(caplog: Any) -> list[str]:
    """What was logged as an error."""
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
