"""A process's way to the server, and what a real cluster can do to it. No healthy stream skips: what is held back comes later, in order."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import msgspec

from setpoint.api import Answer, NotSent, Operation, Outcome, Stream, StreamBroken, Transport, Unknown
from setpoint.api.status import StatusDetails, bad_request, expired, failure
from setpoint.api.watch import decode_frame, encode_frame
from setpoint.objects import decode_head


class Line:
    """A transport that can be held back, cut, lag behind and die; it keeps a list of what went over it."""

    def __init__(self, inner: Transport) -> None:
        self.operations: list[Operation] = []
        self.received: dict[str, int] = {}
        """The bytes that have come, by kind."""
        self._inner = inner
        self._dead = False
        self._news = asyncio.Event()
        self._held: dict[str, int] = {}
        self._expired: dict[str, None] = {}
        self._replicas: dict[str, tuple[int, bool]] = {}
        self._pages: dict[str, int] = {}
        self._stale_pages: dict[str, None] = {}
        self._unmarked: dict[str, None] = {}
        self._refused: dict[str, tuple[float, Answer]] = {}
        self._away: asyncio.Event | None = None
        self._streams: list[_Stream] = []

    # faults

    def hold(self, plural: str, *, after: str | None = None) -> None:
        """The kind's streams deliver nothing until `release`; with `after`, nothing newer than that version."""
        self._held[plural] = int(after or 0)

    def release(self, plural: str) -> None:
        """Ends `hold`: what was kept back is delivered."""
        del self._held[plural]
        self.wake()

    def cut(self, plural: str) -> None:
        """Breaks the kind's streams, and has the server forget where they were: they must list anew."""
        self._expired[plural] = None
        for stream in self._streams:
            stream.broken = stream.broken or stream.plural == plural
        self.wake()

    def end(self, plural: str, *, expired: bool = False) -> None:
        """The server ends the kind's streams, as it does in the best of order; or, `expired`, with an event that says 410."""
        for stream in self._streams:
            if stream.plural == plural:
                stream.ending = stream.ending or ("expired" if expired else "time is up")
        self.wake()

    def mute(self, plural: str) -> None:
        """The kind's streams say nothing any more, and do not end either: who was at the other end has gone without a word."""
        for stream in self._streams:
            stream.muted = stream.muted or stream.plural == plural

    def vanish(self) -> None:
        """The whole server has gone without a word: open streams are mute, and what is asked gets no answer, until `come_back`."""
        self._away = asyncio.Event()
        for stream in self._streams:
            stream.muted = True

    def come_back(self) -> None:
        """Ends `vanish`. What was mute stays so."""
        assert self._away is not None
        self._away.set()
        self._away = None

    def refuse(self, plural: str, *, times: float = math.inf, header: bool = True) -> None:
        """Lists and watches of the kind are answered 429 so many times, to be asked again after a second: said in the body, and in a
        header, if there is one.
        """
        details = StatusDetails(retry_after_seconds=1)
        answer = failure(429, "TooManyRequests", "too many requests, please try again later", details).status.answer()
        headers = {"retry-after": "1"} if header else {}
        self._refused[plural] = times, msgspec.structs.replace(answer, headers=headers)

    def accept(self, plural: str) -> None:
        """Ends `refuse`."""
        del self._refused[plural]

    def in_pages(self, plural: str, size: int) -> None:
        """The server has no streaming lists of the kind, and gives so many objects at a time."""
        self._pages[plural] = size

    def without_bookmarks(self, plural: str) -> None:
        """The server knows no bookmarks, not even the one that ends the initial events of a streaming list."""
        self._unmarked[plural] = None

    def forget_pages(self, plural: str) -> None:
        """The server forgets the next list of the kind while it is read: its second page is answered 410."""
        self._stale_pages[plural] = None

    def lag(self, plural: str, version: str | None, *, lies: bool = False) -> None:
        """The kind is read from a replica that has got no further than this version. It tells so whoever takes any state that there is
        (`resourceVersion=0`); one that `lies` tells it also whoever asks for what is true now, as no sound server does.
        """
        self._replicas[plural] = int(version or 0), lies

    def die(self) -> None:
        """As if the process were killed: from now on nothing of it reaches the server."""
        self._dead = True

    # what went over it

    def asked(self, *verbs: str, plural: str) -> list[Operation]:
        """The operations on a kind so far."""
        return [op for op in self.operations if op.verb in verbs and op.resource is not None and op.resource.resource == plural]

    def open_streams(self, namespace: str) -> list[str]:
        """The kinds of which a watch of a namespace is open."""
        return [stream.plural for stream in self._streams if stream.namespace == namespace and not stream.closed]

    async def send(self, operation: Operation, /) -> Outcome:
        """See `Transport`."""
        if self._dead:
            return NotSent("the process is dead")
        self.operations.append(operation)
        plural = operation.resource.resource if operation.resource else ""
        if operation.verb == "watch" and operation.options.get("resourceVersion") and plural in self._expired:
            del self._expired[plural]
            return expired("too old resource version").status.answer()
        if plural in self._replicas and operation.verb in ("list", "watch"):
            changed = _from_replica(operation, *self._replicas[plural])
            if changed is None:
                return bad_request("this replica does not stream lists").status.answer()
            operation = changed
        if self._away is not None:
            await self._away.wait()
            return Unknown("the connection is dead")
        if plural in self._refused and operation.verb in ("list", "watch"):
            times, answer = self._refused.pop(plural)
            if times > 1:
                self._refused[plural] = times - 1, answer
            return answer
        if plural in self._pages and operation.options.get("sendInitialEvents") == "true":
            return bad_request("there are no streaming lists").status.answer()
        if plural in self._pages and operation.verb == "list" and "limit" in operation.options:
            if plural in self._stale_pages and "continue" in operation.options:
                del self._stale_pages[plural]
                return expired("the provided continue parameter is too old").status.answer()
            operation = msgspec.structs.replace(operation, options={**operation.options, "limit": str(self._pages[plural])})
        outcome = await self._inner.send(operation)
        if not isinstance(outcome, Answer | NotSent | Unknown):
            stream = _Stream(self, plural, operation.namespace, outcome)
            self._streams.append(stream)
            return stream
        if isinstance(outcome, Answer):
            self.count(plural, outcome.body)
        return outcome

    async def close(self) -> None:
        """See `Transport`."""
        await self._inner.close()

    # for streams

    def passes(self, plural: str, frame: bytes) -> bool:
        """Whether an event may be delivered now."""
        limit = self._held.get(plural)
        return limit is None or int(decode_head(decode_frame(frame).object).resource_version or 0) <= limit

    def told(self, plural: str, frames: list[bytes]) -> list[bytes]:
        """What of it this server would say."""
        return [frame for frame in frames if decode_frame(frame).type != "BOOKMARK"] if plural in self._unmarked else frames

    def count(self, plural: str, *received: bytes) -> None:
        """Something has come."""
        self.received[plural] = self.received.get(plural, 0) + sum(map(len, received))

    async def changed(self) -> None:
        """Returns when a fault began or ended."""
        await self._news.wait()

    def wake(self) -> None:
        """Makes every stream look again."""
        self._news.set()
        self._news = asyncio.Event()


class _Stream:
    """One watch."""

    def __init__(self, line: Line, plural: str, namespace: str, inner: Stream) -> None:
        self.plural, self.namespace = plural, namespace
        self.broken = self.muted = self.closed = False
        self.ending = ""
        self._line = line
        self._inner = inner
        self._kept: list[bytes] = []
        self._reading: asyncio.Future[list[bytes] | None] | None = None

    async def read(self) -> list[bytes] | None:
        """See `Stream`."""
        while True:
            if self.muted:
                await asyncio.Event().wait()
            if self.broken:
                raise StreamBroken("cut by the test")
            if self.ending == "expired":
                self.ending = "time is up"
                return [encode_frame("ERROR", expired("too old resource version: 1 (2)").status.encode())]
            if self.ending:
                return None
            passed = [frame for frame in self._kept if self._line.passes(self.plural, frame)]
            if passed:
                self._kept = self._kept[len(passed) :]
                return passed
            waiting: list[asyncio.Future[Any]] = [asyncio.ensure_future(self._line.changed())]
            if not self._kept:
                self._reading = self._reading or asyncio.ensure_future(self._inner.read())
                waiting.append(self._reading)
            try:
                await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            finally:
                waiting[0].cancel()
            if self._reading is not None and self._reading.done():
                if self.muted:
                    continue
                frames, self._reading = self._reading.result(), None
                if frames is None:
                    return None
                self._line.count(self.plural, *frames)
                self._kept = self._line.told(self.plural, frames)

    async def close(self) -> None:
        """See `Stream`."""
        self.closed = True
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        await self._inner.close()


def _from_replica(operation: Operation, version: int, lies: bool) -> Operation | None:
    """What a replica that lags makes of it; None if it does not do that at all."""
    options = dict(operation.options)
    if not lies and options.get("resourceVersion") != "0":
        return operation
    if options.get("sendInitialEvents") == "true":
        return None
    if operation.verb == "watch":
        return operation
    for name in ("limit", "continue"):
        options.pop(name, None)
    options |= {"resourceVersion": str(version), "resourceVersionMatch": "Exact"}
    return msgspec.structs.replace(operation, options=options)
