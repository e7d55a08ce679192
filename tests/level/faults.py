"""Faults that a real cluster can do to a client, put between it and the server. A healthy stream never skips.

- *held*: a stream delivers late; what it delivers is complete and in order;
- *cut*: a stream breaks; what happened meanwhile is delivered after the resume, or not at all if the history has *expired* (410);
- *replayed*: a resumed stream starts earlier than was asked for, so events come twice.
"""

import asyncio
from collections.abc import Callable

import msgspec

from setpoint.api import Answer, NotSent, Operation, StreamBroken
from setpoint.api.status import expired
from setpoint.api.watch import encode_frame


class FaultyTransport:
    """Passes operations on, keeps a list of them, and does to streams what it is told to."""

    def __init__(self, inner) -> None:
        self.inner = inner
        self.operations: list[Operation] = []
        self.streams: list[FaultyStream] = []
        self.down: dict[str, None] = {}
        self.held: dict[str, asyncio.Event] = {}
        self.expire_on_resume: dict[str, None] = {}
        self.replay: dict[str, int] = {}
        self.after: list[Callable[[Operation, object], object | None]] = []

    async def send(self, operation: Operation):
        self.operations.append(operation)
        plural = operation.resource.resource if operation.resource else ""
        if operation.verb in ("watch", "list") and plural in self.down:
            return NotSent("the network is cut")
        version = operation.options.get("resourceVersion", "")
        if operation.verb == "watch" and version not in ("", "0"):
            if plural in self.expire_on_resume:
                del self.expire_on_resume[plural]
                return expired("too old resource version").status.answer()
            back = self.replay.get(plural, 0)
            if back:
                options = {**operation.options, "resourceVersion": str(max(1, int(version) - back))}
                operation = msgspec.structs.replace(operation, options=options)
        outcome = await self.inner.send(operation)
        for look in self.after:
            outcome = look(operation, outcome) or outcome
        if isinstance(outcome, Answer | NotSent) or not hasattr(outcome, "read"):
            return outcome
        stream = FaultyStream(self, plural, outcome)
        self.streams.append(stream)
        return stream

    async def close(self) -> None:
        await self.inner.close()

    # faults

    def hold(self, plural: str) -> Callable[[], None]:
        """From now on that kind's streams deliver nothing, until the returned function is called."""
        gate = self.held[plural] = asyncio.Event()

        def release() -> None:
            gate.set()
            if self.held.get(plural) is gate:
                del self.held[plural]

        return release

    def cut(self, plural: str, *, expire: bool = False, down: bool = False) -> None:
        """Breaks that kind's streams. With `expire` the next resume is refused with 410; with `down` nothing connects until `heal`."""
        if expire:
            self.expire_on_resume[plural] = None
        if down:
            self.down[plural] = None
        for stream in self.streams:
            if stream.plural == plural:
                stream.broken.set()

    def expire_in_stream(self, plural: str) -> None:
        """Ends that kind's streams by an ERROR event with code 410."""
        for stream in self.streams:
            if stream.plural == plural:
                stream.expired.set()

    def heal(self, plural: str) -> None:
        """Connections work again."""
        self.down.pop(plural, None)

    # what was asked

    def asked(self, *verbs: str, plural: str = "") -> list[Operation]:
        return [op for op in self.operations if op.verb in verbs and (not plural or (op.resource and op.resource.resource == plural))]


class FaultyStream:
    """One watch, as the client sees it."""

    def __init__(self, transport: FaultyTransport, plural: str, inner) -> None:
        self.transport = transport
        self.plural = plural
        self.inner = inner
        self.broken = asyncio.Event()
        self.expired = asyncio.Event()
        self._ended = False

    async def read(self) -> list[bytes] | None:
        if self._ended:
            return None
        reading = asyncio.ensure_future(self._read())
        breaking = asyncio.ensure_future(self.broken.wait())
        expiring = asyncio.ensure_future(self.expired.wait())
        try:
            await asyncio.wait([reading, breaking, expiring], return_when=asyncio.FIRST_COMPLETED)
            if self.broken.is_set():
                raise StreamBroken("cut by the test")
            if self.expired.is_set():
                self._ended = True
                return [encode_frame("ERROR", expired("too old resource version: 1 (2)").status.encode())]
            return reading.result()
        finally:
            for task in (reading, breaking, expiring):
                task.cancel()

    async def _read(self) -> list[bytes] | None:
        frames = await self.inner.read()
        while (gate := self.transport.held.get(self.plural)) is not None:
            await gate.wait()
        return frames

    async def close(self) -> None:
        await self.inner.close()
