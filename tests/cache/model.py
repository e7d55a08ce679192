"""A model server: one kind, one history, one global version, and every way in which a watch can go wrong."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from setpoint.api import Answer, LabelSelector, NotSent, Operation, Outcome, StreamBroken
from setpoint.api.status import bad_request, expired, failure
from setpoint.api.watch import INITIAL_EVENTS_END, EventType, encode_frame
from setpoint.cache import Cache, Change, HandlerFailed, Informer, ReflectorState
from setpoint.client.connection import Connection
from setpoint.objects import Object, Request, kind
from setpoint.objects.scheme import Scheme
from setpoint.world import Event, World


@kind(group="example.com", version="v1")
class Widget(Object):
    """An object of the model server."""


def widget(
    name: str, version: int | str = "", *, uid: str = "", namespace: str = "default", labels: dict[str, str] | None = None, **rest: Any
) -> bytes:
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": namespace,
        "uid": uid or f"uid-{name}",
        "resourceVersion": str(version),
        "labels": labels or {},
        **rest,
    }
    return json.dumps({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata}, separators=(",", ":")).encode()


def bookmark(version: int | str, *, initial_end: bool = False) -> bytes:
    annotations = {"annotations": {INITIAL_EVENTS_END: "true"}} if initial_end else {}
    body = {"kind": "Widget", "apiVersion": "example.com/v1", "metadata": {"resourceVersion": str(version), **annotations}}
    return encode_frame("BOOKMARK", json.dumps(body).encode())


def version_of(data: bytes) -> int:
    return int(json.loads(data)["metadata"]["resourceVersion"])


def labels_of(data: bytes) -> dict[str, str]:
    labels: dict[str, str] = json.loads(data)["metadata"].get("labels") or {}
    return labels


class ModelStream:
    """A watch of the model server. `None` in the queue is a clean end, an exception is raised."""

    def __init__(self, server: ModelServer, selector: LabelSelector, since: int = 0) -> None:
        self.server = server
        self.selector = selector
        self.since = since
        self.queue: asyncio.Queue[bytes | Exception | None] = asyncio.Queue()
        self.closed = False

    async def read(self) -> list[bytes] | None:
        first = await self.queue.get()
        lines: list[bytes] = []
        while True:
            if not isinstance(first, bytes):
                if lines:
                    self.queue.put_nowait(first)
                    return lines
                if first is None:
                    return None
                raise first
            lines.append(first)
            if self.queue.empty():
                return lines
            first = self.queue.get_nowait()

    async def close(self) -> None:
        self.closed = True
        self.server.streams = [stream for stream in self.server.streams if stream is not self]

    def deliver(self, event: EventType, before: bytes | None, after: bytes) -> None:
        """As the real server: what enters a selection is ADDED, what leaves it is DELETED in its previous form at the new version."""
        was = before is not None and self.selector.matches(labels_of(before))
        is_ = event != "DELETED" and self.selector.matches(labels_of(after))
        if version_of(after) <= self.since:
            return  # which happens to a client that knows a later version than the server does
        if is_:
            self.queue.put_nowait(encode_frame("MODIFIED" if was else "ADDED", after))
        elif was:
            gone = json.loads(before or b"")
            gone["metadata"]["resourceVersion"] = str(version_of(after))
            self.queue.put_nowait(encode_frame("DELETED", json.dumps(gone).encode()))


class ModelServer:
    """A transport and its server. `streaming_lists` False refuses them; `mute` accepts them and never ends the initial events."""

    def __init__(self, *, streaming_lists: bool = True, page: int = 2) -> None:
        self.version = 0
        self.oldest = 0
        self.state: dict[Request, bytes] = {}
        self.history: list[tuple[int, EventType, Request, bytes | None, bytes]] = []
        self.streams: list[ModelStream] = []
        self.held: list[tuple[ModelStream, tuple[EventType, bytes | None, bytes]]] | None = None
        self.streaming_lists = streaming_lists
        self.mute = False
        self.page = page
        self.served = True
        self.asked: list[Operation] = []
        self.failures: list[Outcome] = []
        self.replays = 0
        """So many versions before the one that a watch resumes from it begins: an API server may repeat what is known."""

    # what happens on the server

    def put(self, name: str, *, uid: str = "", namespace: str = "default", labels: dict[str, str] | None = None) -> bytes:
        key = Request(namespace, name)
        self.version += 1
        before = self.state.get(key)
        uid = uid or (json.loads(before)["metadata"]["uid"] if before else f"uid-{name}-{self.version}")
        after = widget(name, self.version, uid=uid, namespace=namespace, labels=labels)
        self.state[key] = after
        self._happened("MODIFIED" if before else "ADDED", key, before, after)
        return after

    def delete(self, name: str, *, namespace: str = "default") -> str:
        key = Request(namespace, name)
        self.version += 1
        before = self.state.pop(key)
        content = json.loads(before)
        content["metadata"]["resourceVersion"] = str(self.version)
        self._happened("DELETED", key, before, json.dumps(content).encode())
        uid: str = content["metadata"]["uid"]
        return uid

    def elsewhere(self) -> int:
        """A write of another kind: the global version moves on, this kind has no event."""
        self.version += 1
        return self.version

    def _happened(self, event: EventType, key: Request, before: bytes | None, after: bytes) -> None:
        self.history.append((self.version, event, key, before, after))
        for stream in self.streams:
            if self.held is not None:
                self.held.append((stream, (event, before, after)))
            else:
                stream.deliver(event, before, after)

    # what happens to streams

    def hold(self) -> None:
        if self.held is None:
            self.held = []

    def release(self) -> None:
        held, self.held = self.held or [], None
        for stream, event in held:
            stream.deliver(*event)

    def bookmark(self) -> None:
        if self.held is None:
            self.say(bookmark(self.version))

    def restore(self, version: int) -> None:
        """From a backup that was made at that version: what came after never happened, and its versions are used once more."""
        self.state, self.version = self.prefix(version), version
        self.history = [event for event in self.history if event[0] <= version]
        self.cut()

    def say(self, frame: bytes | Exception | None) -> None:
        for stream in self.streams:
            stream.queue.put_nowait(frame)

    def cut(self) -> None:
        """Connections are lost, with all that is on the way."""
        streams, self.streams = self.streams, []
        for stream in streams:
            if self.held is not None:
                self.held = [pair for pair in self.held if pair[0] is not stream]
            while not stream.queue.empty():
                stream.queue.get_nowait()
            stream.queue.put_nowait(StreamBroken("connection reset"))

    def end(self) -> None:
        streams, self.streams = self.streams, []
        for stream in streams:
            stream.queue.put_nowait(None)

    def forget(self) -> None:
        """The history up to now is compacted."""
        self.oldest = self.version

    # transport

    async def send(self, operation: Operation, /) -> Outcome:
        self.asked.append(operation)
        await asyncio.sleep(0.001)
        if self.failures:
            return self.failures.pop(0)
        if not self.served:
            return failure(404, "NotFound", "the server could not find the requested resource").status.answer()
        selector = LabelSelector.parse(operation.options.get("labelSelector", ""))
        match operation.verb:
            case "list":
                return self._list(operation, selector)
            case "watch":
                return self._watch(operation, selector)
        return NotSent("the model server reads only")

    async def close(self) -> None:
        pass

    def _at(self, version: int) -> dict[Request, bytes]:
        return self.prefix(version)

    def prefix(self, version: int) -> dict[Request, bytes]:
        """The objects as they were at a version."""
        state: dict[Request, bytes] = {}
        for at, event, key, _, after in self.history:
            if at <= version:
                if event == "DELETED":
                    state.pop(key, None)
                else:
                    state[key] = after
        return state

    def _list(self, operation: Operation, selector: LabelSelector) -> Outcome:
        token = operation.options.get("continue", "")
        version, start = (int(part) for part in token.split(":")) if token else (self.version, 0)
        if token and version < self.oldest:
            return expired("The provided continue parameter is too old").status.answer()
        found = sorted((key, data) for key, data in self._at(version).items() if selector.matches(labels_of(data)))
        limit = min(int(operation.options.get("limit", "0")), self.page) or len(found)
        page = found[start : start + limit]
        more = f"{version}:{start + limit}" if start + limit < len(found) else ""
        items = b",".join(data for _, data in page)
        head = json.dumps({"resourceVersion": str(version), "continue": more}).encode()
        return Answer(status=200, body=b'{"kind":"WidgetList","apiVersion":"example.com/v1","metadata":%b,"items":[%b]}' % (head, items))

    def _watch(self, operation: Operation, selector: LabelSelector) -> Outcome:
        stream = ModelStream(self, selector)
        if operation.options.get("sendInitialEvents") == "true":
            if not self.streaming_lists and not self.mute:
                return failure(422, "Invalid", "sendInitialEvents is forbidden").status.answer()
            for _, data in sorted(self.state.items()):
                stream.deliver("ADDED", None, data)
            if not self.mute:
                stream.queue.put_nowait(bookmark(self.version, initial_end=True))
        else:
            try:
                since = int(operation.options["resourceVersion"])
            except ValueError:
                return bad_request("invalid resource version").status.answer()
            stream.since = max(0, since - self.replays)
            if since < self.oldest:
                stream.queue.put_nowait(
                    encode_frame("ERROR", expired(f"too old resource version: {since} ({self.oldest})").status.encode())
                )
                stream.queue.put_nowait(None)
                return stream
            for at, event, _, before, after in self.history:
                if at > stream.since:
                    if self.held is not None:
                        self.held.append((stream, (event, before, after)))
                    else:
                        stream.deliver(event, before, after)
        self.streams.append(stream)
        return stream


class Told:
    """A handler that remembers, and that checks that what it is told fits together."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.state: dict[Request, bytes] = {}

    def __call__(self, change: Change) -> None:
        assert self.state.get(change.key) == change.old
        assert change.old != change.new
        self.changes.append(change)
        if change.new is None:
            del self.state[change.key]
        else:
            self.state[change.key] = change.new

    @property
    def names(self) -> list[str]:
        def sign(change: Change) -> str:
            return "-" if change.new is None else "+" if change.old is None else "~"

        return [sign(change) + change.key.name for change in self.changes]


class Setup:
    """A cache of one informer on a model server, running."""

    def __init__(self, world: World, server: ModelServer, *, labels: str = "", namespace: str = "") -> None:
        self.world = world
        self.server = server
        self.cache = Cache(Connection(server, world), Scheme())
        self.informer: Informer = self.cache.informer(Widget, labels=labels, namespace=namespace)
        self.told = Told()
        self.informer.subscribe(self.told)
        self.mistakes: list[Event] = []
        world.observer.subscribe(self._watch_for_mistakes)
        self.task = asyncio.get_running_loop().create_task(self.cache.run())

    def _watch_for_mistakes(self, event: Event) -> None:
        """What the cache survives, and no scenario may bring about."""
        if isinstance(event, HandlerFailed) or (isinstance(event, ReflectorState) and "the cache failed" in event.reason):
            self.mistakes.append(event)

    async def synced(self) -> Setup:
        await self.cache.synced()
        return self

    def names(self, **selection: Any) -> list[str]:
        return [json.loads(data)["metadata"]["name"] for data in self.informer.list(**selection)]

    def get(self, name: str) -> bytes | None:
        return self.informer.get(Request("default", name))

    def verbs(self) -> list[str]:
        def called(operation: Operation) -> str:
            return "stream" if "sendInitialEvents" in operation.options else operation.verb

        return [called(operation) for operation in self.server.asked]
