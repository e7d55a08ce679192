"""A small API server that tests can hold back, cut, and make silent; and a rig that runs controllers against it in simulated time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from setpoint.api import Answer, NotSent, Operation, Outcome, Status, StreamBroken, Unknown, merge_patch
from setpoint.api.operation import APPLY_PATCH
from setpoint.api.selectors import LabelSelector
from setpoint.api.status import already_exists, conflict, expired, modified, not_found
from setpoint.api.watch import INITIAL_EVENTS_END, encode_frame
from setpoint.cache import Cache
from setpoint.client import Client, Connection
from setpoint.controller import Controller, ControllerRuntime, RunEnded, RunStarted
from setpoint.objects import Object, ObjectMeta, Request, Resource, Scheme, Struct, kind
from setpoint.world import Event, World


class GadgetSpec(Struct):
    size: int = 1


class GadgetStatus(Struct):
    seen: int = 0


@kind(group="test.example.com", version="v1")
class Gadget(Resource[GadgetSpec, GadgetStatus]):
    """The primary kind of these tests."""


@kind(group="test.example.com", version="v1")
class Part(Resource[GadgetSpec, GadgetStatus]):
    """What gadgets own."""


@kind(group="test.example.com", version="v1", scope="Cluster")
class Zone(Resource[GadgetSpec, GadgetStatus]):
    """Something else that gadgets look at."""


def gadget(name: str = "a", size: int = 1, **metadata: object) -> Gadget:
    return Gadget(metadata=ObjectMeta(name=name, namespace="ns", **metadata), spec=GadgetSpec(size=size))


def part(name: str = "a", size: int = 1, **metadata: object) -> Part:
    return Part(metadata=ObjectMeta(name=name, namespace="ns", **metadata), spec=GadgetSpec(size=size))


class Server:
    """One revision, one history; status is a subresource; applies are merges. `mischief` may give another outcome before an operation
    is done, and `silence` makes one that was done come to no answer."""

    def __init__(self) -> None:
        self.revision = 10
        self.objects: dict[tuple[str, Request], dict] = {}
        self.history: list[tuple[int, str, str, bytes]] = []  # revision, resource, type, object
        self.operations: list[Operation] = []
        self.streams: list[Stream] = []
        self.mischief: Callable[[Operation], Outcome | None] = lambda operation: None
        self.silence: Callable[[Operation], bool] = lambda operation: False
        self.held = False
        self.oldest = 0
        self.delay = 0.001
        """Seconds before a write is done."""

    @property
    def writes(self) -> list[str]:
        return [str(operation) for operation in self.operations if operation.is_write]

    async def close(self) -> None:
        """Nothing to let go of."""

    async def send(self, operation: Operation, /) -> Outcome:
        await asyncio.sleep(self.delay if operation.is_write else 0.001)
        self.operations.append(operation)
        instead = self.mischief(operation)
        if instead is not None:
            return instead
        try:
            if operation.verb == "watch":
                return self._watch(operation)
            outcome = getattr(self, f"_{operation.verb}")(operation)
        except Exception as error:
            if not hasattr(error, "status"):
                raise
            outcome = error.status.answer()
        if self.silence(operation):
            return Unknown("the line went dead")
        await asyncio.sleep(0.001)
        return outcome

    # what tests do

    def hold(self) -> None:
        """No event is delivered until `let_go`."""
        self.held = True

    def let_go(self) -> None:
        self.held = False
        self._wake()

    def cut(self, *, forget: bool = False) -> None:
        """Ends every stream; with `forget`, what has happened so far cannot be replayed."""
        if forget:
            self.oldest = self.revision
        for stream in self.streams:
            stream.broken = True
        self._wake()
        self.streams.clear()

    def put(self, obj: Object) -> Object:
        """Somebody else creates the object, or changes its spec and metadata."""
        content = json.loads(_encode(obj))
        resource = obj.__kind__.plural
        key = (resource, obj.key)
        old = self.objects.get(key)
        if old is not None:
            content = merge_patch(old, content)
        self._store(resource, obj.key, content)
        return _decode(type(obj), self.objects[key])

    def remove(self, obj: Object) -> None:
        """Somebody else deletes the object."""
        self._drop(obj.__kind__.plural, obj.key)

    def read(self, cls: type[Object], name: str = "a", namespace: str = "ns") -> Object | None:
        content = self.objects.get((cls.__kind__.plural, Request(namespace, name)))
        return None if content is None else _decode(cls, content)

    def names(self, cls: type[Object]) -> list[str]:
        return [key.name for resource, key in self.objects if resource == cls.__kind__.plural]

    # verbs

    def _get(self, operation: Operation) -> Answer:
        return self._answer(self._live(operation))

    def _list(self, operation: Operation) -> Answer:
        items = [content for _, content in self._selected(operation)]
        return Answer(status=200, body=json.dumps({"metadata": {"resourceVersion": str(self.revision)}, "items": items}).encode())

    def _create(self, operation: Operation) -> Answer:
        content = json.loads(operation.body)
        metadata = content["metadata"]
        if not metadata.get("name"):
            metadata["name"] = f"{metadata['generateName']}{self.revision}"
        key = Request(operation.namespace, metadata["name"])
        if (operation.resource.resource, key) in self.objects:
            raise already_exists(operation.resource, key.name)
        return self._answer(self._store(operation.resource.resource, key, content))

    def _patch(self, operation: Operation) -> Answer:
        resource, key = operation.resource.resource, Request(operation.namespace, operation.name)
        patch = json.loads(operation.body)
        live = self.objects.get((resource, key))
        if live is None:
            if operation.content_type != APPLY_PATCH:
                raise not_found(operation.resource, key.name)
            return self._answer(self._store(resource, key, patch))
        metadata = patch.get("metadata", {})
        if metadata.get("resourceVersion", live["metadata"]["resourceVersion"]) != live["metadata"]["resourceVersion"]:
            raise modified(operation.resource, key.name)
        merged = merge_patch(live, patch)
        if operation.subresource:
            merged = {**live, operation.subresource: merged.get(operation.subresource)}
        if merged == live:
            return self._answer(live)
        stored = self._store(resource, key, merged)
        if stored["metadata"].get("deletionTimestamp") and not stored["metadata"].get("finalizers"):
            self._drop(resource, key)
        return self._answer(stored)

    def _delete(self, operation: Operation) -> Answer:
        live = self._live(operation)
        wanted = json.loads(operation.body).get("preconditions", {}).get("uid")
        if wanted and wanted != live["metadata"]["uid"]:
            raise conflict(operation.resource, operation.name, f"Precondition failed: UID in precondition: {wanted}, UID in object meta: x")
        resource, key = operation.resource.resource, Request(operation.namespace, operation.name)
        if live["metadata"].get("finalizers"):
            stamped = merge_patch(live, {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}})
            return self._answer(self._store(resource, key, stamped))
        self._drop(resource, key)
        return Status(status="Success", code=200).answer()

    def _watch(self, operation: Operation) -> Stream:
        start = int(operation.options.get("resourceVersion") or 0)
        if start and start < self.oldest:
            raise expired(f"too old resource version: {start} ({self.oldest})")
        stream = Stream(self, operation, start)
        if operation.options.get("sendInitialEvents") == "true":
            for _, content in self._selected(operation):
                stream.frames.append(encode_frame("ADDED", json.dumps(content).encode()))
            end = {"metadata": {"resourceVersion": str(self.revision), "annotations": {INITIAL_EVENTS_END: "true"}}}
            stream.frames.append(encode_frame("BOOKMARK", json.dumps(end).encode()))
            stream.at = self.revision
        self.streams.append(stream)
        return stream

    # state

    def _live(self, operation: Operation) -> dict:
        live = self.objects.get((operation.resource.resource, Request(operation.namespace, operation.name)))
        if live is None:
            raise not_found(operation.resource, operation.name)
        return live

    def _selected(self, operation: Operation) -> list[tuple[Request, dict]]:
        selector = LabelSelector.parse(operation.options.get("labelSelector", ""))
        return [
            (key, content)
            for (resource, key), content in self.objects.items()
            if resource == operation.resource.resource
            and operation.namespace in ("", key.namespace)
            and selector.matches(content["metadata"].get("labels", {}))
        ]

    def _store(self, resource: str, key: Request, content: dict) -> dict:
        self.revision += 1
        known = self.objects.get((resource, key))
        metadata = {"uid": f"uid-{self.revision}", "generation": 1, **content["metadata"], "resourceVersion": str(self.revision)}
        if known is not None:
            metadata["uid"] = known["metadata"]["uid"]
            if known.get("spec") != content.get("spec"):
                metadata["generation"] = known["metadata"]["generation"] + 1
        stored = self.objects[resource, key] = {**content, "metadata": metadata}
        self.history.append((self.revision, resource, "ADDED" if known is None else "MODIFIED", json.dumps(stored).encode()))
        self._wake()
        return stored

    def _drop(self, resource: str, key: Request) -> None:
        content = self.objects.pop((resource, key))
        self.revision += 1
        gone = {**content, "metadata": {**content["metadata"], "resourceVersion": str(self.revision)}}
        self.history.append((self.revision, resource, "DELETED", json.dumps(gone).encode()))
        self._wake()

    def _answer(self, content: dict) -> Answer:
        return Answer(status=200, body=json.dumps(content).encode())

    def _wake(self) -> None:
        for stream in self.streams:
            stream.news.set()


class Stream:
    """A watch; selectors apply to the object as it is, which is enough for these tests."""

    def __init__(self, server: Server, operation: Operation, at: int) -> None:
        self.server = server
        self.resource = operation.resource.resource
        self.selector = LabelSelector.parse(operation.options.get("labelSelector", ""))
        self.at = at
        self.frames: list[bytes] = []
        self.news = asyncio.Event()
        self.broken = False

    async def read(self) -> list[bytes] | None:
        while True:
            if self.broken:
                raise StreamBroken("cut")
            frames, self.frames = self.frames, []
            if not self.server.held:
                for revision, resource, type, data in self.server.history:
                    selected = self.selector.matches(json.loads(data)["metadata"].get("labels", {}))
                    if revision > self.at and resource == self.resource and selected:
                        frames.append(encode_frame(type, data))
                self.at = self.server.revision
            if frames:
                await asyncio.sleep(0.002)
                return frames
            self.news.clear()
            try:
                async with asyncio.timeout(60):
                    await self.news.wait()
            except TimeoutError:
                at = self.at or self.server.revision
                return [encode_frame("BOOKMARK", json.dumps({"metadata": {"resourceVersion": str(at)}}).encode())]

    async def close(self) -> None:
        """Nothing to let go of."""


def _encode(obj: Object) -> bytes:
    from setpoint.objects import encode

    return encode(obj)


def _decode(cls: type[Object], content: dict) -> Object:
    from setpoint.objects import decode

    return decode(cls, json.dumps(content).encode())


class Rig:
    """A world with that server in it, a cache, and running controllers."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.server = Server()
        self.connection = Connection(self.server, world, timeout=5.0)
        self.client = Client(self.connection)
        self.scheme = Scheme(Gadget, Part, Zone)
        self.cache = Cache(self.connection, self.scheme)
        self.events: list[Event] = []
        world.observer.subscribe(self.events.append)

    def runs(self, name: str | None = None) -> list[RunEnded]:
        return [event for event in self.events if isinstance(event, RunEnded) and name in (None, event.request.name)]

    def heard(self, type: type[Event]) -> list:
        return [event for event in self.events if isinstance(event, type)]

    @asynccontextmanager
    async def running(self, *controllers: Controller) -> AsyncIterator[list[ControllerRuntime]]:
        """Runs them until the block ends; yields once all caches have synced and all workers run."""
        runtimes = [ControllerRuntime(c, world=self.world, cache=self.cache, client=self.client) for c in controllers]
        cache = asyncio.ensure_future(self.cache.run())
        try:
            for runtime in runtimes:
                await runtime.start()
            yield runtimes
        finally:
            for runtime in runtimes:
                await runtime.stop(wait=False)
            cache.cancel()
            await asyncio.gather(cache, return_exceptions=True)


def overlaps(events: list[Event]) -> list[Request]:
    """Keys that ran twice at once."""
    running: dict[Request, None] = {}
    found = []
    for event in events:
        if isinstance(event, RunStarted):
            if event.request in running:
                found.append(event.request)
            running[event.request] = None
        elif isinstance(event, RunEnded):
            running.pop(event.request, None)
    return found


NOT_SENT = NotSent("no route")
