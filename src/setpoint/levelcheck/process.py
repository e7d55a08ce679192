"""Simulated processes: a controller's program from its start, with empty memory, to its end.

A process is told apart by its name, which every task of it carries (see `setpoint.world.process`). It reaches the server by a `Transport`
that it is given, hears the outside through proxies, and tells what happens in it by events. How it is done is one of two: on the loop of
the run (`InLoop`, here), or in an operating system's process that is forked (`setpoint.levelcheck.processes.forked`).
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Protocol

from setpoint.api import Transport
from setpoint.client import Connection
from setpoint.controller import Controller
from setpoint.levelcheck.assumptions import Assumptions
from setpoint.levelcheck.processes.fresh import Loaded
from setpoint.levelcheck.processes.memory import memory_of
from setpoint.manager import Manager, Options
from setpoint.manager.election import LeaderElection
from setpoint.objects import Object, Request, kind_of
from setpoint.world import PROCESS, Chance, Event, Observer, SeededChance, SimulatedClock, World
from setpoint.world.loop import SimulatedLoop


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What a process finds around it.

    `load` gives the controllers and apps, from modules loaded afresh; it is called within the process. `outside` are the proxies of the
    fakes, for the apps. `install` is awaited, outside the process, with the kinds that it needs. `hear` gets every event of the process,
    and `ended` why it has ended by itself: the exception, or None.
    """

    load: Callable[[], Loaded]
    outside: Mapping[str, Any]
    transport: Transport
    install: Callable[[Sequence[type[Object]]], Any]
    hear: Callable[[Event], None]
    ended: Callable[[BaseException | None], None]
    assumptions: Assumptions
    leader_election: bool = False
    seed: str = ""
    offset: timedelta = timedelta()


class SimulatedProcess(Protocol):
    """One process, from its start to its end."""

    name: str

    def start(self) -> None:
        """Lets it begin, in the run's loop; what becomes of it is told by `hear` and `ended`."""
        ...

    def kill(self) -> None:
        """Ends it as SIGKILL does: nothing of it runs again."""
        ...

    def pause(self) -> None:
        """Stops it where it is, as SIGSTOP does."""
        ...

    def resume(self) -> None:
        """Lets it go on."""
        ...

    def shift_clock(self, by: timedelta) -> None:
        """Puts its wall clock ahead, or back."""
        ...

    def trigger(self, controller: str, request: Request) -> None:
        """Has a key run once more."""
        ...

    def trigger_all(self) -> None:
        """Has every key of every controller run once more."""
        ...

    @property
    def is_idle(self) -> bool:
        """Whether it has started and has nothing to do but wait for a change or a timer. A standby, which does not lead, is idle."""
        ...

    @property
    def watched(self) -> Sequence[str]:
        """The resources that its controllers watch, such as `deployments.apps`."""
        ...

    @property
    def primaries(self) -> Mapping[str, str]:
        """By controller, the resource that its keys are of."""
        ...

    @property
    def memory(self) -> str:
        """A digest of what the user's modules hold; empty where that cannot be told."""
        ...


class InLoop:
    """A process on the run's own loop."""

    def __init__(self, name: str, around: Surroundings, world: World, loop: SimulatedLoop) -> None:
        self.name = name
        self._around = around
        self._loop = loop
        self.clock = SimulatedClock(loop.time, offset=around.offset)
        self._world = replace(
            world, clock=self.clock, chance=SeededChance(f"{around.seed}/{name}"), observer=Observer(), host=f"host-of-{name}"
        )
        self._manager: Manager | None = None
        self._running: asyncio.Task[None] | None = None
        self._began = False
        self._loaded: Loaded | None = None

    def start(self) -> None:
        """See `SimulatedProcess`."""
        context = contextvars.Context()
        context.run(PROCESS.set, self.name)
        self._running = self._loop.create_task(self._live(), name=self.name, context=context)
        # Heard outside the process, which is none of its own callbacks.
        outside = contextvars.Context()
        self._running.add_done_callback(self._ended, context=outside)

    def kill(self) -> None:
        """See `SimulatedProcess`."""
        self._loop.kill(self.name)

    def pause(self) -> None:
        """See `SimulatedProcess`."""
        self._loop.pause(self.name)

    def resume(self) -> None:
        """See `SimulatedProcess`."""
        self._loop.resume(self.name)

    def shift_clock(self, by: timedelta) -> None:
        """See `SimulatedProcess`."""
        self.clock.offset += by

    def trigger(self, controller: str, request: Request) -> None:
        """See `SimulatedProcess`."""
        if self._manager is not None:
            self._within(lambda manager: _run_again(manager, controller, request))

    def trigger_all(self) -> None:
        """See `SimulatedProcess`."""
        self._within(_trigger_all)

    def _within(self, do: Callable[[Manager], object]) -> None:
        manager = self._manager
        if manager is not None:
            context = contextvars.Context()
            context.run(PROCESS.set, self.name)
            self._loop.call_soon(lambda: do(manager), context=context)

    @property
    def is_idle(self) -> bool:
        """See `SimulatedProcess`."""
        manager = self._manager
        if manager is None or not self._began:
            return False
        return manager.is_idle or not manager.is_leader

    @property
    def watched(self) -> Sequence[str]:
        """See `SimulatedProcess`."""
        informers = [] if self._manager is None else self._manager.cache.informers
        return tuple(dict.fromkeys(informer.info.group_version_resource.group_resource for informer in informers))

    @property
    def primaries(self) -> Mapping[str, str]:
        """See `SimulatedProcess`."""
        if self._manager is None:
            return {}
        return {
            runtime.name: kind_of(runtime.controller.kind).group_version_resource.group_resource for runtime in self._manager.controllers
        }

    @property
    def memory(self) -> str:
        """See `SimulatedProcess`."""
        return "" if self._loaded is None else memory_of(self._loaded)

    async def _live(self) -> None:
        around = self._around
        self._world.observer.subscribe(around.hear)
        election = LeaderElection(name="level-check", namespace="default", identity=self.name) if around.leader_election else None
        connection = Connection(around.transport, self._world, user_agent="setpoint", say_warnings=False)
        manager = Manager(connection, options=Options(leader_election=election, flight_recorder=False))
        manager.cache.own_writes = around.assumptions.own_writes == "visible"
        self._loaded = loaded = around.load()
        async with _open(loaded.values, manager, around.outside):
            await around.install(list(dict.fromkeys([*manager.kinds, *kinds_in(loaded)])))
            self._manager = manager
            self._began = True
            await manager.run()

    def _ended(self, running: asyncio.Task[None]) -> None:
        self._around.ended(None if running.cancelled() else running.exception())


def users_chance(around: Surroundings, name: str) -> Chance:
    """Where the user's own code in a process has its chance from."""
    return SeededChance(f"{around.seed}/{name}/user")


def _run_again(manager: Manager, controller: str, request: Request) -> None:
    # Past the check of what is a key: a controller's own mapper may have made it of anything.
    for runtime in manager.controllers:
        if runtime.name == controller:
            runtime.queue.add(request, "triggered")


def _trigger_all(manager: Manager) -> None:
    for runtime in manager.controllers:
        manager.trigger_all(runtime.controller)


def kinds_in(loaded: Loaded) -> list[type[Object]]:
    """The kinds that the user's modules declare."""
    values = [value for module in loaded.modules.values() for value in vars(module).values()]
    return list(
        dict.fromkeys(value for value in values if isinstance(value, type) and issubclass(value, Object) and "__kind__" in vars(value))
    )


@asynccontextmanager
async def _open(targets: Sequence[Any], manager: Manager, outside: Mapping[str, Any]) -> AsyncIterator[None]:
    """Adds the controllers, and opens the apps around what follows."""
    async with AsyncExitStack() as stack:
        for target in targets:
            if isinstance(target, Controller):
                manager.add(target)
            else:
                await stack.enter_async_context(target(manager, **outside))
        yield
