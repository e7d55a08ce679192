"""Watches of a process, as a real network has them: late, broken off and resumed, or expired; and what is delivered complete and in order.

A watch is late by a *hold*: nothing of a resource reaches the process until the hold is released. What releases it depends on the fault;
when nothing else happens in the cluster any more, every hold ends. So does one in which the process writes the same object again and again:
it is late, and not cut off, and whoever acts on what is late has only so long to do it.

A watch may also fall *silent*: it looks open, and nothing comes by it any more, until somebody gives it up.

Where a process watches a resource twice, what happens to the one watch at an event happens to the other there, too.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from setpoint.api import Stream, StreamBroken
from setpoint.api.watch import decode_frame
from setpoint.levelcheck.plan import Decision
from setpoint.levelcheck.recording import Key
from setpoint.objects import decode_head

if TYPE_CHECKING:
    from setpoint.levelcheck.run.wire import Wire


PATIENT = 6
"""So often may the process write an object before what is late comes."""
BREAKING = ("expired", "resumed", "silent")
"""What happens to a watch at once; what makes it late happens to all watches of the resource anyway."""
WRITES_IN_SILENCE = 60
"""As many writes by the process end a silence: what is made for ever because of it would only take the check's time."""
SILENCE = 300.0
"""After so many seconds the operating system finds that a connection is dead, if the client has not before."""


class Hold:
    """Nothing of a resource reaches the process. `key` is the object whose change was the first to be late.

    `how` says what ends it: `run`, `rest`, `other`; the object's next change, if it comes before the rest (`coalesced`), or however late
    the user makes it (`overwritten`). After the gaps (`short-gap`, `gap`), which end likewise, the watch is expired.
    """

    def __init__(self, how: str, key: Key | None = None, revision: int = 0) -> None:
        self.how = how
        self.key = key
        self.revision = revision
        """What the process has seen, where that is older than what it has been sent: the revision of an old list; else 0."""
        self.released = asyncio.Event()
        self.ran = False
        """Whether a run that reads the resource has begun since."""
        self._written: Counter[Key] = Counter()

    @property
    def outlives_waiting(self) -> bool:
        """Whether a user who waits does not end it: what it waits for may be that user's next step."""
        return self.how in ("overwritten", "gap")

    def process_wrote(self, written: Key) -> bool:
        """The process has written an object; gives whether it does so again and again, and should have the news now."""
        self._written[written] += 1
        return self._written[written] >= (WRITES_IN_SILENCE if self.outlives_waiting else PATIENT)

    @property
    def ends_with_the_next_change(self) -> bool:
        """Whether the next change of the object ends it."""
        return self.how in ("overwritten", "coalesced", "gap", "short-gap")


class Line:
    """One watch of a process; a `Stream`."""

    def __init__(self, wire: Wire, resource: str, inner: Stream, *, listed: bool) -> None:
        self._wire = wire
        self._resource = resource
        self._inner = inner
        self._late: list[bytes] = []
        self._listed = listed
        """Whether what comes is news: not before the initial events have ended."""
        self._closed = False
        self.silent = False
        """Whether nothing comes by it any more."""
        self._noticed = asyncio.Event()
        """Set when it is time to find that out."""
        self._writes = 0
        self._is_broken = False
        self._due: dict[int, list[Decision]] = {}
        """By revision, what goes wrong with its event, because it has with another watch."""

    @property
    def is_behind(self) -> int:
        """The revision of the first frame that is late; 0 if none is."""
        return next((revision for frame in self._late if (revision := _revision(frame))), 0)

    def process_wrote(self) -> None:
        """The process has changed something on the server."""
        if self.silent:
            self._writes += 1
            if self._writes >= WRITES_IN_SILENCE:
                self._noticed.set()

    async def read(self) -> list[bytes] | None:
        """See `Stream`."""
        while not self._closed:
            if self.silent:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._noticed.wait(), SILENCE)
                raise StreamBroken("the connection has timed out")
            if self._late:
                hold = self._wire.holds.get(self._resource)
                if hold is not None:
                    await hold.released.wait()
                    if hold.how in ("gap", "short-gap"):
                        self._wire.expired[self._resource] += 1
                        raise self._broken(self._late)
                    continue
                frames, self._late = self._late, []
                return frames
            frames_read = await self._inner.read()
            if frames_read is None:
                return None
            passed = self._passed(frames_read)
            if passed:
                return passed
        return None

    def _passed(self, frames: list[bytes]) -> list[bytes]:
        """What reaches the process now; what does not is kept."""
        if self._wire.reversed_lists and not self._listed:
            frames = _reversed(frames)
        for at, frame in enumerate(frames):
            if self._listed:
                self._decide(frame)
            elif b'"k8s.io/initial-events-end"' in frame:
                self._listed = True
            if self.silent or self._resource in self._wire.holds:
                self._late = frames[at:]
                return frames[:at]
            if self._is_broken:
                raise self._broken(frames)
        self._wire.behind.pop(self._resource, None)
        return frames

    def _broken(self, lost: list[bytes]) -> StreamBroken:
        """The connection is lost, and these frames with it."""
        self._wire.behind[self._resource] = next((revision for frame in lost if (revision := _revision(frame))), 1) - 1
        self._late = []
        return StreamBroken("the connection was lost")

    def _decide(self, frame: bytes) -> None:
        revision = _revision(frame)
        decided = self._wire.run.event_decisions(self._wire, revision)
        breaking = [decision for decision in decided if decision.fault == "F9" and decision.how in BREAKING]
        for other in self._wire.beside(self, self._resource) if breaking else ():
            other._due[revision] = breaking
        for decision in [*decided, *self._due.pop(revision, ())]:
            self._take(decision, revision)

    def _take(self, decision: Decision, revision: int) -> None:
        match decision.fault, decision.how:
            case (("F5" | "F7" | "F8"), how):
                self._hold(how, revision)
            case "F9", ("gap" | "short-gap") as how:
                self._hold(how, revision)
            case "F9", "expired":
                self._wire.expired[self._resource] += 1
                self._is_broken = True
            case "F9", "silent":
                self.silent = True
            case "F9", _:
                self._is_broken = True
            case _:
                raise ValueError(f"{decision}: this cannot happen to an event")

    def _hold(self, how: str, revision: int) -> None:
        run, hold = self._wire.run, Hold(how, self._wire.run.key_of(revision))
        self._wire.hold(self._resource, hold)
        if hold.ends_with_the_next_change and run.has_changed_since(revision):
            run.end_hold(self._wire, self._resource)

    async def close(self) -> None:
        """See `Stream`."""
        self._closed = True
        self._wire.forget(self)
        await self._inner.close()


def _revision(frame: bytes) -> int:
    """The revision of the object that a frame brings; 0 for one that brings none."""
    try:
        read = decode_frame(frame)
    except msgspec.DecodeError:
        return 0
    if read.type not in ("ADDED", "MODIFIED", "DELETED"):
        return 0
    version = decode_head(bytes(read.object)).resource_version
    return int(version) if version.isdigit() else 0


def _reversed(frames: list[bytes]) -> list[bytes]:
    """Initial events in another order; the bookmark that ends them stays behind them."""
    end = next((at for at, frame in enumerate(frames) if b'"k8s.io/initial-events-end"' in frame), len(frames))
    return [*reversed(frames[:end]), *frames[end:]]
