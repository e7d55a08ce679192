"""Candidates in simulated time, a network that can be cut between each of them and the server, and what is asked of every election.

A candidate is a simulated process with a clock of its own: an election, and a small writer that writes whenever it believes that it leads.
It is started again when it ends, as Kubernetes does. What was dispatched is written down by the network, who held the Lease by the server.
"""

import asyncio
import contextvars
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

import msgspec

from setpoint.api import Answer, Operation, Unknown
from setpoint.api.status import failure
from setpoint.client import Connection, InProcessTransport, verbs
from setpoint.client.errors import ApiError, NotLeading, OutcomeUnknown
from setpoint.cluster.server import ApiServer
from setpoint.k8s.core.v1 import ConfigMap
from setpoint.manager import LeaderElection, LeadershipLost
from setpoint.manager.election.leadership import Leadership
from setpoint.objects import Request, kind_of
from setpoint.world import PROCESS, SeededChance, SimulatedClock, World
from setpoint.world.observer import Observer

ELECTION = LeaderElection(name="writer", namespace="default")
LATENCY = (0.001, 0.02)


@dataclass
class Dispatched:
    """A write as it left a candidate: when, from whom, who held the Lease on the server just then, and what is known of how long."""

    at: float
    by: str
    holder: str
    held_until: float


@dataclass
class Stage:
    """The server, and what is between it and the candidates."""

    world: World
    chance: SeededChance
    server: ApiServer = field(init=False)
    writes: list[Dispatched] = field(default_factory=list)
    renewed: dict[str, float] = field(default_factory=dict)
    holders: list[tuple[float, str]] = field(default_factory=lambda: [(0.0, "")])
    cut: dict[str, asyncio.Event] = field(default_factory=dict)
    failing: dict[str, int] = field(default_factory=dict)
    happened: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.server = ApiServer(self.world)

    @property
    def now(self) -> float:
        return asyncio.get_running_loop().time()

    @property
    def holder(self) -> str:
        """Who holds the Lease, as the server has it."""
        return self.holders[-1][1]

    def count(self, *what: str) -> None:
        """Writes down that something has happened, so that a test can tell that what it is about does occur."""
        for one in what:
            self.happened[one] = self.happened.get(one, 0) + 1

    def note(self, by: str, sent: float, operation: Operation, answer: object) -> None:
        """Looks at each write of the Lease that the server has done."""
        if not (operation.is_write and isinstance(answer, Answer) and answer.ok):
            return
        body = operation.body.decode()
        holder = by if f'"holderIdentity":"{by}"' in body else ""
        if holder:
            self.renewed[by] = sent
        else:
            self.renewed.pop(by, None)
        if holder != self.holder:
            self.holders.append((self.now, holder))

    async def until(self, condition: Callable[[], bool], seconds: float = 600) -> float:
        """The seconds that it takes until something is so."""
        began = self.now
        while not condition():
            if self.now - began > seconds:
                return math.inf
            await asyncio.sleep(0.05)
        return self.now - began


class Network:
    """One candidate's way to the server. What has left arrives, whatever becomes of the candidate; if the way is not cut, that is."""

    def __init__(self, stage: Stage, name: str, identity: str) -> None:
        self.stage = stage
        self.name = name
        self.identity = identity
        self.blind = self.no_release = False
        self._in_process = InProcessTransport(stage.server.handle)

    async def send(self, operation: Operation):
        if (self.blind and operation.verb == "watch") or (self.no_release and b'"holderIdentity":""' in operation.body):
            return failure(403, "Forbidden", "broken").status.answer()
        stage, loop = self.stage, asyncio.get_running_loop()
        if _is_work(operation):
            until = stage.renewed.get(self.identity, -math.inf) + ELECTION.renew_deadline
            stage.writes.append(Dispatched(stage.now, self.identity, stage.holder, until))
        context = contextvars.Context()
        return await asyncio.shield(loop.create_task(self._carry(operation, stage.now), context=context, name="network"))

    async def _carry(self, operation: Operation, sent: float):
        stage, chance = self.stage, self.stage.chance
        await asyncio.sleep(chance.uniform(*LATENCY))
        if not await self._through():
            return Unknown("the connection was reset")
        if (code := stage.failing.get(self.name)) is not None:
            return failure(code, "", "it is broken").status.answer()
        if _is_work(operation):
            answer = Answer(status=200, body=b"{}")  # all that matters of it is when it left
        else:
            answer = await self._in_process.send(operation)
            stage.note(self.identity, sent, operation, answer)
        await asyncio.sleep(chance.uniform(*LATENCY))
        if not await self._through():
            return Unknown("the connection was reset")
        return CutStream(stage, self.name, answer) if hasattr(answer, "read") else answer

    async def _through(self) -> bool:
        """Whether there is a way. Where it is cut, nothing is heard until it is whole again; then the connection turns out to be dead."""
        healed = self.stage.cut.get(self.name)
        if healed is not None:
            await healed.wait()
        return healed is None

    async def close(self) -> None:
        pass


def _is_work(operation: Operation) -> bool:
    return operation.is_write and operation.resource.resource != "leases"


class CutStream:
    """A watch that says nothing while the way is cut."""

    def __init__(self, stage: Stage, name: str, inner) -> None:
        self.stage, self.name, self.inner = stage, name, inner

    async def read(self):
        frames = await self.inner.read()
        while (healed := self.stage.cut.get(self.name)) is not None:
            await healed.wait()
        return frames

    async def close(self) -> None:
        await self.inner.close()


class Candidate:
    """A simulated process, started again and again. `broken` may change what it is made of, right after each start."""

    def __init__(self, stage: Stage, name: str, *, broken: "Callable[[Candidate], None]" = lambda candidate: None) -> None:
        self.stage = stage
        self.name = name
        self.broken = broken
        self.clock = SimulatedClock(asyncio.get_running_loop().time)
        self.world = World(
            clock=self.clock,
            chance=SeededChance(f"{stage.chance.seed}/{name}"),
            threads=stage.world.threads,
            sockets=stage.world.sockets,
            simulated=True,
            observer=Observer(),
        )
        self.leadership: Leadership | None = None
        self.stopping = False
        self.starts = 0
        self.losses: list[float] = []
        context = contextvars.copy_context()
        context.run(PROCESS.set, name)
        self.life = asyncio.get_running_loop().create_task(self._live(), name=name, context=context)

    @property
    def leads(self) -> bool:
        """Whether it believes that it may write."""
        return self.leadership is not None and self.leadership.is_leader

    def jump(self, seconds: float) -> None:
        """Its time of day changes, as when somebody sets it."""
        self.clock.offset += timedelta(seconds=seconds)

    def elect(self, **times: float) -> None:
        """Gives it times that nobody should have."""
        for name, value in times.items():
            msgspec.structs.force_setattr(self.leadership.election, name, value)

    async def stop(self) -> None:
        """A clean end: work first, then the Lease."""
        self.stopping = True
        if self.leadership is not None:
            self.leadership.give_up()
        await self.life

    async def _live(self) -> None:
        while not self.stopping:
            self.starts += 1
            identity = f"{self.name}-{self.starts}"
            self.network = Network(self.stage, self.name, identity)
            self.connection = Connection(self.network, self.world, timeout=5)
            self.leadership = Leadership(self.connection, msgspec.structs.replace(ELECTION, identity=identity))
            running = asyncio.create_task(self.leadership.run(), name=f"{self.name}-election")
            await asyncio.sleep(0)
            self.broken(self)
            writing = asyncio.create_task(self._write(self.connection, self.leadership), name=f"{self.name}-writer")
            try:
                await running
            except LeadershipLost as error:
                self.losses.append(self.stage.now)
                self.stage.count("leadership lost", "taken by another" if "holds it now" in str(error) else "not renewed in time")
            writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)
            if not self.stopping:
                await asyncio.sleep(self.world.chance.uniform(0.5, 1.0))

    async def _write(self, connection: Connection, leadership: Leadership) -> None:
        await leadership.acquired.wait()
        work = verbs.apply(kind_of(ConfigMap), Request("default", "written"), b"{}", field_manager="writer", force=True)
        while not self.stopping:
            try:
                await connection.call(work)
            except NotLeading:
                self.stage.count("a write held back")
            except OutcomeUnknown:
                self.stage.count("a write on its way when it was cut off")
            except ApiError:
                self.stage.count("a write refused")
            await asyncio.sleep(self.world.chance.uniform(0.1, 0.9))


def late_writes(stage: Stage) -> list[Dispatched]:
    """What must not be: writes dispatched after their holder's deadline, or while another one holds the Lease."""
    return [write for write in stage.writes if write.at >= write.held_until or write.holder != write.by]
