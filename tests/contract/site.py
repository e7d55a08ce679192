"""One server to be judged, as a test sees it: a connection, a client and a namespace of its own."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeVar

import msgspec

from setpoint.api import Answer, Operation, Outcome, Stream, StreamBroken, Transport
from setpoint.client import Client, Connection, RequestDone, RequestSent
from setpoint.client.install import install
from setpoint.cluster.server import ApiServer
from setpoint.k8s.core.v1 import Namespace
from setpoint.objects import Object, ObjectMeta
from setpoint.world import Event, World

T = TypeVar("T")
PATIENCE = 30.0
"""Seconds within which something that is waited for must have happened."""


@dataclass
class Site:
    """A server and what is needed to talk to it. `server` is there where it is the embedded one, in this process or behind HTTPS.

    `sent` and `answers` are what went over the connection since the test began.
    """

    name: str
    world: World
    line: Line
    namespace: str
    server: ApiServer | None
    connection: Connection = field(init=False)
    client: Client = field(init=False)
    sent: list[Operation] = field(default_factory=list)
    answers: list[tuple[Operation, Outcome]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.connection = Connection(self.line, self.world, user_agent="contract")
        self.client = self.client_of("contract")
        self.world.observer.subscribe(self._hear)

    def client_of(self, manager: str) -> Client:
        """A client that writes as this field manager."""
        return Client(self.connection, field_manager=manager, namespace=self.namespace)

    def meta(self, name: str, **more: Any) -> ObjectMeta:
        """Metadata of an object in the namespace of the test."""
        return ObjectMeta(name=name, namespace=self.namespace, **more)

    async def prepare(self, kinds: Iterable[type[Object]]) -> None:
        """Makes the namespace, and has the kinds served."""
        await self.client.create(Namespace(metadata=ObjectMeta(name=self.namespace)))
        await install(self.client, kinds)
        self.sent.clear()
        self.answers.clear()

    @property
    def writes(self) -> list[str]:
        """The writes since the test began."""
        return [str(operation) for operation in self.sent if operation.is_write]

    @property
    def warnings(self) -> list[str]:
        """What the server warned of since the test began."""
        return [text for _, outcome in self.answers if isinstance(outcome, Answer) for text in outcome.warnings]

    async def until(self, found: Callable[[], Awaitable[T] | T], what: str = "", *, patience: float = PATIENCE) -> T:
        """Waits until something is found that is true, and gives it."""
        try:
            async with asyncio.timeout(patience):
                while True:
                    value = found()
                    result: T = await value if inspect.isawaitable(value) else value
                    if result:
                        return result
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise AssertionError(f"it has not come about in {patience:.0f} s: {what or inspect.getsource(found).strip()}") from None

    def _hear(self, event: Event) -> None:
        if isinstance(event, RequestSent):
            self.sent.append(event.operation)
        elif isinstance(event, RequestDone):
            self.answers.append((event.operation, event.outcome))


class Line:
    """A transport whose streams can be cut, and whose server can be made to have forgotten where they were."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._streams: dict[int, CutStream] = {}
        self._expired = False
        self.lists = 0

    async def send(self, operation: Operation, /) -> Outcome:
        """See `Transport`."""
        if operation.verb == "list":
            self.lists += 1
        if self._expired and operation.verb == "watch" and operation.options.get("resourceVersion") and not _lists(operation):
            self._expired = False
            operation = msgspec.structs.replace(operation, options={**operation.options, "resourceVersion": "1"})
        if operation.verb == "watch" and _lists(operation):
            self.lists += 1
        outcome = await self._transport.send(operation)
        if operation.verb != "watch" or isinstance(outcome, Answer) or not hasattr(outcome, "read"):
            return outcome
        stream = CutStream(outcome)
        self._streams[id(stream)] = stream
        return stream

    async def close(self) -> None:
        """See `Transport`."""
        await self._transport.close()

    def cut(self, *, expired: bool = False) -> None:
        """Breaks all streams. With `expired`, the next one that goes on from a version asks for the first of all, long forgotten."""
        self._expired = expired
        streams, self._streams = self._streams, {}
        for stream in streams.values():
            stream.cut()


class CutStream:
    """A stream that may be cut."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._cut = asyncio.Event()

    def cut(self) -> None:
        """Breaks it for whoever reads."""
        self._cut.set()

    async def read(self) -> list[bytes] | None:
        """See `Stream`."""
        reading, cutting = asyncio.ensure_future(self._stream.read()), asyncio.ensure_future(self._cut.wait())
        try:
            await asyncio.wait([reading, cutting], return_when=asyncio.FIRST_COMPLETED)
            if self._cut.is_set():
                raise StreamBroken("cut by the test")
            return await reading
        finally:
            for task in (reading, cutting):
                task.cancel()
            await asyncio.gather(reading, cutting, return_exceptions=True)

    async def close(self) -> None:
        """See `Stream`."""
        await self._stream.close()


def _lists(operation: Operation) -> bool:
    return operation.options.get("sendInitialEvents") == "true"


@dataclass(frozen=True)
class Plane:
    """One sort of server: `run` makes a site on it and runs a test there. `real` says that it is the one that is always right."""

    name: str
    run: Callable[[Callable[[Site], Coroutine[Any, Any, None]]], None]
    real: bool = False


def contract(test: Callable[[Site], Coroutine[Any, Any, None]]) -> Callable[[Plane], None]:
    """Makes an async test of a site a test on each sort of server."""

    @wraps(test)
    def on_plane(plane: Plane) -> None:
        plane.run(test)

    del on_plane.__wrapped__  # type: ignore[attr-defined]  # pytest would ask the inner function what it takes
    return on_plane
