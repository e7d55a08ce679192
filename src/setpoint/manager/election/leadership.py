"""`Leadership`: a manager's part in an election. It runs the elector where nothing can hold it up, and speaks to it across threads."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Callable
from dataclasses import replace

from setpoint.client import Connection
from setpoint.manager.election.elector import Elector
from setpoint.manager.election.fence import WriteFence
from setpoint.manager.election.settings import LeaderElection, LeadershipLost
from setpoint.manager.election.states import Leading, Lost, Released, State
from setpoint.world import PROCESS, Observer
from setpoint.world.loop_thread import LoopThread

log = logging.getLogger("setpoint.manager")


class Leadership:
    """One candidacy of the process that writes through `connection`: from `run` on, that lets writes pass only while it leads.

    The elector has a thread, an event loop and connections of its own. In simulation it is a task, and a part `election` of the simulated
    process. Where the server is within the caller's event loop, it is a task there: there is nothing to be faster than.
    """

    def __init__(self, connection: Connection, election: LeaderElection) -> None:
        world = connection.world
        self.election = election
        self.identity: str = election.identity or f"{world.host}_{world.chance.uuid()}"
        self.fence: WriteFence = WriteFence(world.clock, election.lease)
        self.acquired: asyncio.Event = asyncio.Event()
        self._connection = connection
        self._clock = world.clock
        self._release: Callable[[], object] | None = None
        self._giving_up = self._ended = False

    @property
    def is_leader(self) -> bool:
        """Whether a write may leave now."""
        return self.fence() is None

    def problem(self) -> str | None:
        """For the liveness probe: a process that led, and may not write any more, should be gone by the time that another one may."""
        election = self.election
        late = self._clock.monotonic() - self.fence.until > election.lease_duration - election.renew_deadline
        if self.acquired.is_set() and not self._giving_up and late:
            return f"it does not hold the lease {election.lease} any more, and yet it has not ended"
        return None

    async def run(self) -> None:
        """Stands for election, sets `acquired`, and leads until `give_up`. Raises `LeadershipLost`."""
        self._connection.fence = self.fence
        try:
            end = await self._elect()
        finally:
            self._release, self._ended = None, True  # there is nobody left to ask
            self.fence.shut()
            self._connection.cut_writes()
        if isinstance(end, Lost) and not self._giving_up:
            raise LeadershipLost(
                f"the leadership by the lease {self.election.lease} is lost: {end.reason}; start the process anew, as Kubernetes does"
            )
        if isinstance(end, Released) and end.trouble:
            log.warning(
                "the lease %s was not given back, and the next leader waits until it runs out: %s", self.election.lease, end.trouble
            )

    def give_up(self) -> None:
        """Asks `run` to give the Lease back: to be called when all work has ended. No write leaves from here on."""
        self._giving_up = True
        self.fence.shut()
        self._connection.cut_writes()
        if self._release is not None:
            self._release()

    async def _elect(self) -> Released | Lost:
        timeout = self.election.request_timeout
        world, loop = self._connection.world, asyncio.get_running_loop()
        apart = None if world.simulated else self._connection.apart(replace(world, observer=Observer()), timeout=timeout)
        if apart is None:
            context = contextvars.copy_context()
            if process := PROCESS.get():
                context.run(PROCESS.set, f"{process}/election")
            elector = self._elector(self._connection.beside(timeout=timeout), self._hear)
            self._reach(elector.release)
            return await loop.create_task(elector.run(), name="election", context=context)

        def tell(state: State) -> None:
            loop.call_soon_threadsafe(self._hear, state)

        async def run() -> Released | Lost:
            elector, there = self._elector(apart, tell), asyncio.get_running_loop()
            loop.call_soon_threadsafe(self._reach, lambda: there.call_soon_threadsafe(elector.release))
            try:
                return await elector.run()
            finally:
                await apart.close()

        with LoopThread("setpoint-election") as thread:
            return await asyncio.wrap_future(thread.submit(run()))

    def _elector(self, connection: Connection, tell: Callable[[State], object]) -> Elector:
        return Elector(connection, self.election, self.identity, self.fence, tell)

    def _reach(self, release: Callable[[], object]) -> None:
        """From now on it can be asked to release; it is, if that was wanted before."""
        if self._ended:
            return
        self._release = release
        if self._giving_up:
            release()

    def _hear(self, state: State) -> None:
        if isinstance(state, Leading):
            self.acquired.set()
