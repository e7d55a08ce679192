"""`Programs`: the processes of a run, as they begin, die and come back."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from setpoint.client import Client, Connection, InProcessTransport
from setpoint.client.install import install
from setpoint.levelcheck.plan import Decision
from setpoint.levelcheck.process import Surroundings
from setpoint.levelcheck.recording import Died, Started
from setpoint.levelcheck.run.outside import Proxy
from setpoint.levelcheck.run.wire import LATENCY, Wire
from setpoint.objects import Object

if TYPE_CHECKING:
    from setpoint.levelcheck.run.execution import Execution

RESTARTS = 5
"""A process that ends by itself is started again so often."""


class Programs:
    """Processes are called p1, p2 and so on, in the order in which they begin; those of the environment never fail.

    `down` says that one has died that comes back when the user has done something. `trouble` is why the run makes no sense, or empty.
    """

    def __init__(self, run: Execution) -> None:
        self._run = run
        self._started_processes = 0
        self._ended_by_themselves = 0
        self._installed: dict[str, None] = {}
        self.down = False
        self.reversed_lists = False
        self.skew = timedelta()
        self.trouble = ""
        self.standing_still: dict[str, None] = {}
        """The processes that are stopped for a while, with a request under way."""

    def crash(self, process: str, decision: Decision) -> None:
        """A process dies, and after a while a new one begins."""
        old = {}
        if decision.fault in ("F6", "F16"):
            old[decision.resource] = self._run.revision_before(decision.object)
        if not self.die(process):
            return
        if decision.how == "down" and self._run.user.steps_left:
            self.down = True
        else:
            self._run.loop.call_later(max(decision.seconds, 1.0), partial(self.start, old), context=contextvars.Context())

    def die(self, name: str) -> bool:
        """A process is no more, and nothing follows; false if it was none before."""
        process = self._run.processes.pop(name, None)
        if process is None:
            return False  # it is no more already
        process.kill()
        self._run.wires.pop(name).cut()
        self._died(name)
        return True

    async def until_another_leads(self, process: str) -> None:
        """The process stands still, with a request under way, until another one has taken over and has nothing to do any more."""
        self._run.processes[process].pause()
        self.standing_still[process] = None
        await asyncio.sleep(60.0)  # the lease has ended by then, and the other one has done what there was to do
        self._run.loop.call_later(2 * LATENCY, self._go_on, process, context=contextvars.Context())

    def _go_on(self, name: str) -> None:
        del self.standing_still[name]
        process = self._run.processes.get(name)
        if process is not None:
            process.resume()

    def start_all(self, old: dict[str, int] | None = None) -> None:
        """As many processes begin as there are to be."""
        for _ in range(self._run.case.leaders):
            self.start(old)

    def start(self, old: dict[str, int] | None = None) -> None:
        """One more process begins; by resource, `old` are the revisions of its first lists."""
        if self._run.is_ending:
            return
        self._started_processes += 1
        name = f"p{self._started_processes}"
        wire = self._run.wires[name] = Wire(self._run, name)
        wire.old.update(old or {})
        wire.reversed_lists = self.reversed_lists
        process = self._run.processes[name] = self._run.loaders.process(name, self._around(name, wire), self._run.world, self._run.loop)
        self._run.tell(Started(at=self._run.now, process=name))
        self._run.activity.last_change = self._run.now
        process.start()

    def _around(self, name: str, wire: Wire) -> Surroundings:
        return Surroundings(
            load=self._run.loaders.target,
            outside={each: Proxy(self._run, name, fake) for each, fake in self._run.outside.items()},
            transport=wire,
            install=self._install,
            hear=partial(self._run.hearing.hear, name, wire),
            ended=partial(self._process_ended, name),
            assumptions=self._run.case.assumptions,
            leader_election=self._run.case.leaders > 1,
            seed=f"level-check/process/{self._run.plan.seed}",
            offset=self.skew,
        )

    @property
    def are_idle(self) -> bool:
        """Whether all processes, and those of the environment, have nothing to do but wait for a change or a timer."""
        return all(process.is_idle for process in (*self._run.processes.values(), *self._run.environment.values()))

    def start_environment(self) -> None:
        """The other controllers of the cluster begin."""
        for number, load in enumerate(self._run.loaders.environment, start=1):
            name = f"environment-{number}"
            around = Surroundings(
                load=load,
                outside={},
                transport=InProcessTransport(self._run.plane.server.handle),
                install=self._install,
                hear=lambda event: None,
                ended=partial(self._environment_ended, name),
                assumptions=type(self._run.case.assumptions)(),
                seed=name,
            )
            process = self._run.environment[name] = self._run.loaders.environment_process(name, around, self._run.world, self._run.loop)
            process.start()

    async def _install(self, kinds: Sequence[type[Object]]) -> None:
        await self._run.apart(self._installed_once(kinds))

    async def _installed_once(self, kinds: Sequence[type[Object]]) -> None:
        new = [kind for kind in kinds if f"{kind.__module__}.{kind.__qualname__}" not in self._installed]
        self._installed.update({f"{kind.__module__}.{kind.__qualname__}": None for kind in new})
        if new:
            transport = InProcessTransport(self._run.plane.server.handle)
            connection = Connection(transport, self._run.world, user_agent="level-check", say_warnings=False)
            await install(Client(connection, field_manager="level-check"), new)

    def _process_ended(self, name: str, error: BaseException | None) -> None:
        if self._run.is_ending or name not in self._run.processes:
            return
        self._run.processes.pop(name)
        self._run.wires.pop(name).cut()
        said = "it ended by itself" if error is None else _innermost(error)
        self._died(name, said)
        self._ended_by_themselves += 1
        if not self._run.began:
            self.trouble = f"the program ends by itself: {said}"
        elif self._ended_by_themselves > RESTARTS:
            self._run.activity.never_rests(f"the program ends by itself, again and again: {said}")
        else:
            self._run.loop.call_later(1.0, self.start, context=contextvars.Context())

    def _died(self, name: str, error: str = "") -> None:
        self._run.tell(Died(at=self._run.now, process=name, error=error))
        self._run.activity.timers.clear()
        self._run.activity.last_change = self._run.now

    def _environment_ended(self, name: str, error: BaseException | None) -> None:
        if not self._run.is_ending:
            self.trouble = f"the controller {name} of the environment ends: {error!r}"


def _innermost(error: BaseException) -> str:
    """An exception in words; of a group, the first that is none."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"
