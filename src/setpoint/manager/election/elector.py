"""`Elector` carries out what `election_rules` decides, over a connection of its own.

It runs on an event loop of its own in production, so that nothing a reconciler does can keep the Lease from being renewed, and as a
process of its own, which can be paused, in simulation.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections import deque
from collections.abc import Callable

import msgspec

from setpoint.api import ApiError, Operation, Stream, StreamBroken
from setpoint.api.watch import decode_frame
from setpoint.client import Connection
from setpoint.client.errors import AlreadyExists, Conflict, NotFound, Unreachable
from setpoint.manager.election import lease
from setpoint.manager.election.fence import WriteFence
from setpoint.manager.election.rules import Rules, decide, step
from setpoint.manager.election.settings import JITTER, LeaderElection
from setpoint.manager.election.states import (
    Acquiring,
    Failed,
    Granted,
    Input,
    Leading,
    Lost,
    Read,
    Refused,
    Released,
    Seen,
    Standby,
    State,
    Stop,
    Unknown,
    Unseen,
    Wait,
    Write,
)

log = logging.getLogger("setpoint.manager")

WATCH_SECONDS = 300
"""For so long a standby watches, then it reads the Lease again."""


class Elector:
    """One candidate. The fence opens while it leads; `tell` hears each new sort of state, on this elector's loop."""

    def __init__(
        self, connection: Connection, election: LeaderElection, identity: str, fence: WriteFence, tell: Callable[[State], object]
    ) -> None:
        chance = connection.world.chance
        self.state: State = Standby()
        self._connection = connection
        self._clock = connection.world.clock
        self._election = election
        self._rules = Rules(election=election, identity=identity, jitter=lambda seconds: seconds * (1 + JITTER * chance.uniform(0, 1)))
        self._fence = fence
        self._tell = tell
        self._inbox: deque[Input] = deque()
        self._arrived = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None
        self._watched_from = ""
        self._told: type[State] | None = None
        self._said = ""

    def release(self) -> None:
        """Asks `run` to give the Lease back and to end: to be called when all work has ended. On this elector's loop."""
        self._put(Stop())

    async def run(self) -> Released | Lost:
        """Stands for election until it has led and lost, or until `release`. Cancelled, it keeps the Lease until that runs out."""
        try:
            while True:
                while self._inbox:
                    self._step(self._inbox.popleft())
                self.state, do = decide(self.state, self._now(), self._rules)
                await self._publish()
                match self.state:
                    case Released() | Lost():
                        return self.state
                match do:
                    case Wait(until):
                        await self._wait(until)
                    case Read(by):
                        self._step(await self._read(by))
                    case Write():
                        self._step(await self._write(do))
        finally:
            self._fence.until = -math.inf
            await self._stop_watching()

    def _now(self) -> float:
        return self._clock.monotonic()

    def _put(self, given: Input) -> None:
        self._inbox.append(given)
        self._arrived.set()

    def _step(self, given: Input) -> None:
        before = self.state
        self.state = step(before, given, self._now(), self._rules)
        self._say(before, given)

    async def _publish(self) -> None:
        """What follows from the state for others: the fence, who is told, the watch."""
        state = self.state
        self._fence.until = state.deadline(self._election) if isinstance(state, Leading) else -math.inf
        if type(state) is not self._told:
            self._told = type(state)
            self._tell(state)
        if not (isinstance(state, Standby) and state.read_at is None):
            await self._stop_watching()
        elif self._watching is None:
            self._watching = asyncio.create_task(self._watch(self._watched_from), name="election-watch")

    async def _stop_watching(self) -> None:
        if self._watching is not None:
            watching, self._watching = self._watching, None
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    async def _wait(self, until: float) -> None:
        self._arrived.clear()
        if self._inbox:
            return
        try:
            async with asyncio.timeout(max(until - self._now(), 0)):
                await self._arrived.wait()
        except TimeoutError:
            return

    # requests

    def _limited(self, operation: Operation, by: float) -> Operation:
        seconds = min(self._election.request_timeout, by - self._now())
        return msgspec.structs.replace(operation, deadline=asyncio.get_running_loop().time() + seconds)

    async def _read(self, by: float) -> Input:
        since = self._now()
        try:
            answer = await self._connection.call(self._limited(lease.lister(self._election), by))
            record, self._watched_from = lease.read_list(answer.body)
        except (ApiError, msgspec.MsgspecError) as error:
            return Unseen(since, str(error))
        return Seen(record)

    async def _write(self, write: Write) -> Input:
        since = self._now()
        operation = lease.writer(self._election, write, self._clock.now())
        try:
            answer = await self._connection.call(self._limited(operation, write.by))
            return Granted(since, lease.read(answer.body).version)
        except (Conflict, AlreadyExists) as error:
            return Refused(since, str(error))
        except NotFound as error:
            # The Lease that was to be changed is gone; if it was to be created, its namespace is.
            return Refused(since, str(error)) if write.version else Failed(since, str(error))
        except Unreachable as error:
            return Failed(since, str(error))
        except ApiError as error:
            return Failed(since, str(error)) if 400 <= error.code < 500 else Unknown(since, str(error))
        except msgspec.MsgspecError as error:
            return Unknown(since, f"the answer is no Lease: {error}")

    async def _watch(self, version: str) -> None:
        """Puts what a watch shows into the inbox, and at last that it has ended."""
        since, stream = self._now(), None
        try:
            stream = await self._connection.watch(self._limited(lease.watcher(self._election, version, WATCH_SECONDS), math.inf))
            reason = await self._follow(stream)
        except (ApiError, StreamBroken, msgspec.MsgspecError) as error:
            reason = str(error)
        except Exception as error:
            log.exception("watching the lease %s failed", self._election.lease)
            reason = f"{type(error).__name__}: {error}"
        finally:
            if stream is not None:
                await stream.close()
        self._put(Unseen(since, reason))

    async def _follow(self, stream: Stream) -> str:
        while (lines := await stream.read()) is not None:
            for line in lines:
                frame = decode_frame(line)
                if frame.type == "ERROR":
                    return f"the watch has ended: {frame.object.decode(errors='replace')}"
                if frame.type != "BOOKMARK":
                    self._put(Seen(None if frame.type == "DELETED" else lease.read(frame.object)))
        return ""

    # what is said

    def _say(self, before: State, given: Input) -> None:
        """Each news once."""
        name, mine = self._election.lease, self._rules.identity
        match self.state, given:
            case Leading(), Granted() if isinstance(before, Acquiring):
                self._log(logging.INFO, f"leading: holds the lease {name} as {mine}")
            case Standby(), Seen(record) if record is not None and record.holder and record.holder != mine:
                self._log(logging.INFO, f"standing by: the lease {name} is held by {record.holder}")
            case _, Unseen(reason=reason) | Failed(reason=reason) | Unknown(reason=reason) if reason:
                self._log(logging.WARNING, f"the lease {name}: {reason}")

    def _log(self, level: int, text: str) -> None:
        if text != self._said:
            self._said = text
            log.log(level, "%s", text)
