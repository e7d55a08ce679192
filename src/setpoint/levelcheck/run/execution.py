"""`execute`: one run, from an empty cluster to its end, and the recording of it.

Everything in it is the production code on one simulated loop. The server, the cluster's own controllers and the user never fail; what goes
wrong goes wrong on the wires and in the processes of the controller that is checked.
"""

from __future__ import annotations

import asyncio
import contextvars
import traceback
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, Literal, TypeVar

import msgspec

from setpoint.api import GroupVersionKind
from setpoint.cache.events import Delivered as CacheDelivered
from setpoint.client import Client, Connection, InProcessTransport
from setpoint.client.install import install
from setpoint.cluster import ControlPlane
from setpoint.cluster.server.kinds import ServedKind
from setpoint.cluster.server.storage import Change
from setpoint.controller import events as runs
from setpoint.levelcheck.case import Case
from setpoint.levelcheck.plan import Decision, Plan, Site
from setpoint.levelcheck.process import InLoop, SimulatedProcess, Surroundings
from setpoint.levelcheck.processes.fresh import Loaded
from setpoint.levelcheck.recording import (
    AnyMoment,
    Changed,
    Delivered,
    Died,
    Failed,
    Faulted,
    Key,
    Read,
    Recording,
    Rested,
    RunBegan,
    RunEnded,
    Snapshot,
    Started,
    Stepped,
    TimerSet,
)
from setpoint.levelcheck.run.foreign import Foreign
from setpoint.levelcheck.run.outside import Proxy
from setpoint.levelcheck.run.rest import PATIENCE, Activity
from setpoint.levelcheck.run.sites import Fork, Sites
from setpoint.levelcheck.run.view import StateView
from setpoint.levelcheck.run.wire import BOOKKEEPING, Wire, users_line
from setpoint.levelcheck.workload import Advance, Apply, Delete, Patch, Recreate, Step, Wait, Workload
from setpoint.objects import Object, Request
from setpoint.world import Event, SeededChance, SimulatedLoop, World, new_loop, simulated_world

T = TypeVar("T")

RESTARTS = 5
"""A process that ends by itself is started again so often."""
LATENCY = 0.001
"""Seconds that a request is under way; a seed makes it vary."""


class Unsound(Exception):
    """The run cannot be made: the app does not start, a manifest is refused. The text says why."""


class Joined(Exception):
    """From here on the run would be the one without faults."""


class Restless(Exception):
    """The cluster does not come to rest."""


@dataclass(frozen=True)
class Loaders:
    """How the programs are loaded: that which is checked, and each one of the environment; and what their processes are.

    A run cannot be split in two (`splits`) where they are the operating system's.
    """

    target: Callable[[], Loaded]
    environment: tuple[Callable[[], Loaded], ...] = ()
    process: Callable[[str, Surroundings, World, SimulatedLoop], SimulatedProcess] = InLoop
    environment_process: Callable[[str, Surroundings, World, SimulatedLoop], SimulatedProcess] = InLoop
    splits: bool = True


class Execution:
    """One run."""

    def __init__(
        self,
        case: Case,
        plan: Plan,
        workload: Workload,
        loaders: Loaders,
        fork: Fork | None = None,
        joins: Callable[[Snapshot], bool] = lambda snapshot: False,
    ) -> None:
        self.case = case
        self.plan = plan
        self.workload = workload
        self.loop = new_loop()
        self.world = simulated_world(self.loop, seed=f"level-check/{plan.seed}")
        self.plane = ControlPlane(self.world, controllers=case.cluster_controllers)
        self.joins = joins
        self._snapshots: list[Snapshot] = []
        self._joined = 0
        self._primaries: dict[str, str] = {}
        self.sites = Sites(plan.decisions, fork)
        self.moments: list[AnyMoment] = []
        self.foreign = Foreign(self)
        self.newest: dict[str, int] = {}
        """By resource, the newest revision."""
        self.wires: dict[str, Wire] = {}
        self.processes: dict[str, SimulatedProcess] = {}
        self.environment: dict[str, SimulatedProcess] = {}
        self.activity = Activity()
        self.outside = {name: make() for name, make in case.outside.items()}
        self.loaders = loaders
        self._latency = SeededChance(f"level-check/latency/{plan.seed}")
        self._acting = ""
        self._of_revision: dict[int, tuple[Key, Site]] = {}
        self._changes: dict[int, Changed] = {}
        self._started_processes = 0
        self._ended_by_themselves = 0
        self._down = False
        """Whether a process has died that comes back when the user has done something."""
        self._again: dict[tuple[str, str, str], None] = {}
        self._every_run_twice = False
        self._reversed = False
        self._skew = timedelta()
        self._installed: dict[str, None] = {}
        self._began = 0.0
        self._rests = 0
        self._steps_left = 0
        self._end: Literal["rest", "restless", "broken"] = "rest"
        self._end_why = ""
        self._watched: tuple[str, ...] = ()
        self._raw: tuple[str, ...] = ()
        self._trouble = ""
        self._ending = False
        self._view = StateView(self)
        self._violated: dict[str, str] = {}
        self._tasks: dict[asyncio.Task[Any], None] = {}
        self.plane.server.storage.subscribe(self._changed)

    # what rooms around it ask for

    @property
    def now(self) -> float:
        """Simulated seconds."""
        return self.loop.time()

    def latency(self) -> float:
        """How long the next request is under way."""
        return LATENCY if self.plan.seed == 0 else self._latency.uniform(0.0005, 0.02)

    def tell(self, moment: AnyMoment) -> None:
        """Records a moment."""
        self.moments.append(moment)

    async def apart(self, work: Coroutine[Any, Any, T]) -> T:
        """Does something outside of the process that asks for it: it happens, even if that process dies meanwhile."""
        return await asyncio.shield(self.spawn(work))

    def spawn(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """The same, without waiting for it."""
        task = self.loop.create_task(work, context=contextvars.Context())
        self._tasks[task] = None
        task.add_done_callback(lambda done: self._tasks.pop(done, None), context=contextvars.Context())
        return task

    @contextmanager
    def acting(self, who: str) -> Iterator[None]:
        """While it is open, what changes on the server is the doing of somebody; nothing else may run meanwhile."""
        before, self._acting = self._acting, who
        try:
            yield
        finally:
            self._acting = before

    def stored(self, key: Key) -> dict[str, Any] | None:
        """An object as it is on the server."""
        return self._view.get(key)

    def kind_of_resource(self, resource: str) -> ServedKind | None:
        """The kind that is served under a name such as `deployments.apps`."""
        return next((kind for kind in self.plane.server.kinds if kind.resource.group_resource == resource), None)

    def kind_named(self, api_version: str, kind: str) -> ServedKind | None:
        """The kind that manifests name so."""
        return self.plane.server.kinds.named(GroupVersionKind.parse(api_version, kind))

    # what changes

    def _changed(self, change: Change) -> None:
        group, _, plural = change.collection.rpartition("/")
        resource = f"{plural}.{group}" if group else plural
        self.newest[resource] = change.revision
        if resource in BOOKKEEPING:
            return
        namespace, _, name = change.record.key.rpartition("/")
        key = Key(resource, namespace, name)
        site = self.sites.site("event", "", str(key))
        self._of_revision[change.revision] = (key, site)
        moment = Changed(
            at=self.now,
            process=self._acting or "environment",
            revision=change.revision,
            key=key,
            before=None if change.previous is None else change.previous.value,
            after=change.record.value,
            deleted=change.deleted,
            by=self._acting or "environment",
        )
        self._changes[change.revision] = moment
        self.moments.append(moment)
        self.activity.changed(key, self.now, passing=any(wire.is_behind for wire in self.wires.values()))
        for wire in self.wires.values():
            for held, hold in list(wire.holds.items()):
                overwritten = hold.ends_with_the_next_change and hold.key == key
                if overwritten or (hold.how == "other" and held != resource):
                    self.loop.call_later(2 * LATENCY, partial(wire.release, held), context=contextvars.Context())
        if (own := self.wires.get(self._acting)) is not None and (own.holds or own.is_silent):
            for held in own.process_wrote(_as_written(key, change)):
                self.loop.call_later(2 * LATENCY, partial(own.release, held), context=contextvars.Context())
        if self.case.invariants and self._began:
            self._judge(change.revision)

    def _judge(self, revision: int) -> None:
        for invariant in self.case.invariants:
            name = getattr(invariant, "__name__", "invariant")
            if name not in self._violated and (said := invariant(self._view)):
                self._violated[name] = f"{said} (revision {revision}, {self.now:.1f} s)"

    def was_effective(self, revision: int) -> bool:
        """Whether a revision changed more than bookkeeping."""
        change = self._changes.get(revision)
        return change is not None and (change.before is None or change.deleted or _essence(change.before) != _essence(change.after))

    def made_since(self, revision: int, key: Key) -> tuple[int, Key]:
        """The revision that a write of an object has made since then (0: none), and the object's key, now that its name is known."""
        for made in range(self.plane.server.storage.revision, revision, -1):
            found = self._of_revision.get(made)
            if found is not None and found[0].resource == key.resource and (key.name.endswith("*") or found[0].name == key.name):
                return made, found[0]
        return 0, key

    def key_of(self, revision: int) -> Key | None:
        """Whose revision it is."""
        found = self._of_revision.get(revision)
        return None if found is None else found[0]

    # what goes wrong

    def decide(self, site: Site, process: str) -> list[Decision]:
        """What goes wrong here, told of."""
        found = self.sites.decided(site)
        for decision in found:
            self.tell(Faulted(at=self.now, process=process, fault=decision.fault, text=str(decision)))
        return found

    def event_decisions(self, wire: Wire, revision: int) -> list[Decision]:
        """What goes wrong with the event of a revision, on its way to a process."""
        found = self._of_revision.get(revision)
        return [] if found is None or not self._began else self.decide(found[1], wire.process)

    def crash(self, process: str, decision: Decision) -> None:
        """A process dies, and after a while a new one begins."""
        old = {}
        if decision.fault in ("F6", "F16"):
            old[decision.resource] = self._revision_before(decision.object)
        seconds = decision.seconds
        if not self._die(process):
            return
        if decision.how == "down":
            self._down = True
        else:
            self.loop.call_later(max(seconds, 1.0), partial(self._start, old), context=contextvars.Context())

    def _die(self, name: str) -> bool:
        process = self.processes.pop(name, None)
        if process is None:
            return False  # it is no more already
        process.kill()
        self.wires.pop(name).cut()
        self.tell(Died(at=self.now, process=name))
        self.activity.timers.clear()
        self.activity.last_change = self.now
        return True

    def _revision_before(self, object: str) -> int:
        """The revision before a change that is named as a place: `pods default/a#2`; without one, the beginning."""
        text, _, nth = object.rpartition("#")
        for revision, (_, site) in self._of_revision.items():
            if site.what == text and site.nth == int(nth):
                return revision - 1
        return max(1, min(self._of_revision, default=2) - 1)

    async def until_another_leads(self, process: str) -> None:
        """The process stands still, with a request under way, until another one has taken over and has nothing to do any more."""
        self.processes[process].pause()
        await asyncio.sleep(60.0)  # the lease has ended by then, and the other one has done what there was to do
        self.loop.call_later(2 * LATENCY, self._go_on, process, context=contextvars.Context())

    def _go_on(self, name: str) -> None:
        process = self.processes.get(name)
        if process is not None:
            process.resume()

    # processes

    def _start(self, old: dict[str, int] | None = None) -> None:
        if self._ending:
            return
        self._started_processes += 1
        name = f"p{self._started_processes}"
        wire = self.wires[name] = Wire(self, name)
        wire.old.update(old or {})
        wire.reversed_lists = self._reversed
        process = self.processes[name] = self.loaders.process(name, self._around(name, wire), self.world, self.loop)
        self.tell(Started(at=self.now, process=name))
        self.activity.last_change = self.now
        process.start()

    def _around(self, name: str, wire: Wire) -> Surroundings:
        return Surroundings(
            load=self.loaders.target,
            outside={each: Proxy(self, name, fake) for each, fake in self.outside.items()},
            transport=wire,
            install=self._install,
            hear=partial(self._hear, name, wire),
            ended=partial(self._process_ended, name),
            assumptions=self.case.assumptions,
            leader_election=self.case.leaders > 1,
            seed=f"level-check/process/{self.plan.seed}",
            offset=self._skew,
        )

    def _start_environment(self) -> None:
        for number, load in enumerate(self.loaders.environment, start=1):
            name = f"environment-{number}"
            around = Surroundings(
                load=load,
                outside={},
                transport=InProcessTransport(self.plane.server.handle),
                install=self._install,
                hear=lambda event: None,
                ended=partial(self._environment_ended, name),
                assumptions=type(self.case.assumptions)(),
                seed=name,
            )
            process = self.environment[name] = self.loaders.environment_process(name, around, self.world, self.loop)
            process.start()

    async def _install(self, kinds: Sequence[type[Object]]) -> None:
        await self.apart(self._installed_once(kinds))

    async def _installed_once(self, kinds: Sequence[type[Object]]) -> None:
        new = [kind for kind in kinds if f"{kind.__module__}.{kind.__qualname__}" not in self._installed]
        self._installed.update({f"{kind.__module__}.{kind.__qualname__}": None for kind in new})
        if new:
            connection = Connection(InProcessTransport(self.plane.server.handle), self.world, user_agent="level-check", say_warnings=False)
            await install(Client(connection, field_manager="level-check"), new)

    def _process_ended(self, name: str, error: BaseException | None) -> None:
        if self._ending or name not in self.processes:
            return
        self.processes.pop(name)
        self.wires.pop(name).cut()
        said = "it ended by itself" if error is None else _innermost(error)
        self.tell(Died(at=self.now, process=name, error=said))
        self._ended_by_themselves += 1
        if self._ended_by_themselves > RESTARTS or not self._began:
            self._trouble = f"the program ends by itself: {said}"
            return
        self.loop.call_later(1.0, self._start, context=contextvars.Context())

    def _environment_ended(self, name: str, error: BaseException | None) -> None:
        if not self._ending:
            self._trouble = f"the controller {name} of the environment ends: {error!r}"

    def _hear(self, name: str, wire: Wire, event: Event) -> None:
        match event:
            case runs.RunStarted():
                self._run_started(name, event)
            case runs.RunEnded():
                self._run_ended(name, wire, event)
            case runs.TimerSet():
                self._timer_set(name, event)
            case runs.CacheRead():
                self._cache_read(name, wire, event)
            case CacheDelivered():
                self._delivered(name, event)
            case _:
                return

    def _run_started(self, name: str, event: runs.RunStarted) -> None:
        self.activity.ran(event.controller, str(event.request))
        site = self.sites.site("run", event.controller, str(event.request))
        self.tell(RunBegan(at=self.now, process=name, site=site, run=event.run))
        for decision in self.decide(site, name):
            assert decision.fault == "F11", decision
            self._again[name, event.controller, str(event.request)] = None

    def _run_ended(self, name: str, wire: Wire, event: runs.RunEnded) -> None:
        self.tell(RunEnded(at=self.now, process=name, run=event.run, result=event.result, error=event.error))
        for resource, hold in list(wire.holds.items()):
            if hold.how == "run" and hold.ran:
                wire.release(resource)
        place = (name, event.controller, str(event.request))
        if self._again.pop(place, 0) is None:
            self._trigger(name, event.controller, event.request)
        elif self._every_run_twice:
            # None of those that this brings about is run twice again.
            marked = (name, event.controller, f"twice {event.request}")
            if self._again.pop(marked, 0) is not None:
                self._again[marked] = None
                self._trigger(name, event.controller, event.request)

    def _trigger(self, name: str, controller: str, request: Request) -> None:
        process = self.processes.get(name)
        if process is not None:
            self.loop.call_soon(process.trigger, controller, request, context=contextvars.Context())

    def _timer_set(self, name: str, event: runs.TimerSet) -> None:
        site = self.sites.site("timer", event.controller, str(event.request))
        self.activity.timer(event.controller, str(event.request), self.now + event.after, event.after, event.cause.source)
        self.tell(TimerSet(at=self.now, process=name, site=site, after=event.after, cause=event.cause.source))
        for decision in self.decide(site, name):
            if decision.fault == "F17":
                self.processes[name].shift_clock(timedelta(seconds=decision.seconds))
            else:
                self.loop.call_soon(self.crash, name, decision, context=contextvars.Context())

    def _cache_read(self, name: str, wire: Wire, event: runs.CacheRead) -> None:
        resource = event.info.group_version_resource.group_resource
        hold = wire.holds.get(resource)
        if hold is not None:
            hold.ran = True
        self.tell(
            Read(
                at=self.now,
                process=name,
                run=event.run,
                resource=resource,
                namespace="" if event.key is None else event.key.namespace,
                name="" if event.key is None else event.key.name,
                seen=wire.seen(resource),
                true=self.newest.get(resource, 0),
                line=users_line(),
            )
        )

    def _delivered(self, name: str, event: CacheDelivered) -> None:
        kind = self.plane.server.kinds.named(event.kind)
        resource = event.kind.kind.lower() if kind is None else kind.resource.group_resource
        if resource in BOOKKEEPING:
            return
        key = Key(resource, event.key.namespace, event.key.name)
        revision = event.version if isinstance(event.version, int) else 0
        self.tell(Delivered(at=self.now, process=name, key=key, type=event.type, revision=revision))

    # the run

    def run(self) -> Recording:
        """Runs it, and gives what was seen."""
        self.begin()
        return self.go_on()

    def begin(self) -> None:
        """The cluster and the controllers start, and come to rest; the user has done nothing yet."""
        self.loop.set_exception_handler(self._unhandled)
        self._until_end(self._begin())

    def continue_as(self, plan: Plan, workload: Workload) -> None:
        """After `begin`, and before `go_on`: the run is to be that of another plan, which decides nothing at the start."""
        self.plan, self.workload = plan, workload
        self.sites.add(plan.decisions)
        if plan.seed:
            self._latency = SeededChance(f"level-check/latency/{plan.seed}")

    def go_on(self) -> Recording:
        """The user's steps, to the end of the run."""
        if self._end == "rest":
            self._until_end(self._main())
        return Recording(
            plan=self.plan,
            moments=self.moments,
            objects=self._view.everything(),
            outside=self._outside_state(),
            end=self._end,
            why=self._end_why,
            unused=self.sites.unused,
            began=self._began,
            ended=self.now,
            runs=self.activity.runs,
            steps=self.loop.steps,
            watched=self._watched,
            raw=self._raw,
            violated=tuple(f"{name}: {said}" for name, said in self._violated.items()),
            rests=tuple(self._snapshots),
            primaries=self._primaries,
            joined=self._joined,
        )

    def _until_end(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            self.loop.run_until_complete(work)  # what is left running then is left as it is, as in a process that was killed
        except Restless as error:
            self._end, self._end_why = "restless", str(error)
        except Unsound as error:
            self._end, self._end_why = "broken", str(error)
        except Joined:
            pass
        except Exception as error:
            self._end, self._end_why = "broken", "".join(traceback.format_exception(error))

    def _unhandled(self, loop: object, context: dict[str, Any]) -> None:
        error = context.get("exception")
        said = f"{type(error).__name__}: {error}" if error is not None else str(context.get("message", ""))
        self.tell(Failed(at=self.now, process="", error=said))

    async def _main(self) -> None:
        try:
            self._steps_left = sum(not isinstance(step, Wait | Advance) for step in self.workload.steps)
            for step in self.workload.steps:
                await self._step(step)
            if not self.workload.steps or not isinstance(self.workload.steps[-1], Wait):
                await self._rest()
            if all(decision.fault == "F11" for decision in self.plan.decisions):
                await self._ask_again()
            try:
                self.loop.raise_unseen()
            except Exception as error:
                self.tell(Failed(at=self.now, process="", error=f"{type(error).__name__}: {error}", where="a task that nobody awaits"))
        finally:
            self._watched = tuple(dict.fromkeys(each for process in self.processes.values() for each in process.watched))
            opened = dict.fromkeys(each for wire in self.wires.values() for each in wire.watched)
            self._raw = tuple(each for each in opened if each not in self._watched and each not in BOOKKEEPING)
            self._watched += self._raw
            for process in self.processes.values():
                self._primaries.update(process.primaries)
            self._ending = True

    async def _begin(self) -> None:
        await self.plane.__aenter__()
        start = self.sites.site("start")
        self._start_environment()
        for decision in self.decide(start, ""):
            match decision.fault:
                case "F11":
                    self._every_run_twice = True
                case "F17":
                    self._skew = timedelta(seconds=decision.seconds)
                case "F22":
                    self._reversed = True
                case "F16":
                    pass  # it is what processes begin with, below
                case _:
                    raise ValueError(f"{decision}: this cannot happen at the start")
        for _ in range(self.case.leaders):
            self._start({decision.resource: 1 for decision in self.sites.taken if decision.fault == "F16"})
        await self._until_quiet(self._is_started, 120.0, "the controllers do not start")
        self._began = self.now
        self.activity.last_change = self.now

    def _is_started(self) -> bool:
        return all(process.is_idle for process in (*self.processes.values(), *self.environment.values())) and self.plane.is_idle

    async def _until_quiet(self, holds: Any, patience: float, otherwise: str) -> None:
        deadline = self.now + patience
        while not holds():
            if self._trouble:
                raise Unsound(self._trouble)
            if self.now > deadline:
                raise Unsound(otherwise)
            await asyncio.sleep(0.05)

    async def _step(self, step: Step) -> None:
        await asyncio.sleep(0.02)  # a user is slower than a network
        if isinstance(step, Wait):
            await self._rest()
            return
        if isinstance(step, Advance):
            self.tell(Stepped(at=self.now, process="user", index=len(self.moments), step=str(step)))
            await self._passes(step.seconds)
            return
        site = self.sites.site("step", "user", str(step))
        self._steps_left -= 1
        back = ""
        for decision in self.decide(site, "user"):
            match decision.fault, decision.how:
                case "F13", how:
                    back = how
                    for name in list(self.processes):
                        self._die(name)
                case "F18", "finalizer":
                    await self.foreign.do("finalizer", decision.object)
                case _:
                    raise ValueError(f"{decision}: this cannot happen to a step")
        error, key = await self._do(step), self.foreign.key(step.ref)
        self.tell(Stepped(at=self.now, process="user", index=len(self.moments), step=str(step), error=error, key=key))
        if error:
            self._refused = error
        if self._down:
            self._down, back = False, "rest"
        if back:
            await self._come_back(back)

    async def _come_back(self, how: str) -> None:
        if how == "rest":
            await self._quiet(without_processes=True)
        else:
            await asyncio.sleep(1.0)
        for _ in range(self.case.leaders):
            self._start()

    async def _do(self, step: Step) -> str:
        match step:
            case Apply():
                return await self.foreign.apply(step.ref, step.manifest)
            case Patch(ref, patch, subresource):
                return await self.foreign.patch(ref, patch, subresource)
            case Delete(ref, propagation):
                return await self.foreign.delete(ref, propagation)
            case Recreate(ref, manifest):
                error = await self.foreign.delete(ref, "Background")
                for _ in range(2000):
                    if not self.foreign.is_there(ref):
                        break
                    self._check()
                    await asyncio.sleep(0.05)
                return error or await self.foreign.apply(ref, manifest)
        raise ValueError(f"{step}: the user does not know how to")

    # rest

    async def _rest(self) -> None:
        """Waits for the cluster to come to rest, and once more after what goes wrong then."""
        if self._down and not self._steps_left:
            self._down = False
            self._start()
        late = any(hold.outlives_waiting for wire in self.wires.values() for hold in wire.holds.values())
        if self._steps_left and (self._down or late):
            self._rests = self.sites.site("rest").nth
            await self._passes(5.0)  # what is late waits for the user's next step
            return
        await self._quiet_without_holds()
        site = self.sites.site("rest")
        decisions = self.decide(site, "")
        for decision in decisions:
            match decision.fault, decision.how:
                case "F1", _:
                    for name in list(self.processes):
                        self.crash(name, decision)
                case (("F6" | "F16"), _):
                    for name in list(self.processes):
                        self.crash(name, decision)
                case _, how:
                    await self.foreign.do(how, decision.object)
        if decisions:
            await self._quiet_without_holds()
        if self.foreign.finalizers:
            for key in await self.foreign.let_go():
                self._violated.setdefault("foreign finalizers", f"somebody else's finalizer was taken off {key}")
            await self._quiet()
        self._rests = site.nth
        self.tell(Rested(at=self.now, process="", nth=site.nth, revision=self.plane.server.storage.revision))
        snapshot = self._snapshot(site.nth)
        self._snapshots.append(snapshot)
        if self.joins(snapshot):
            self._joined = site.nth
            raise Joined

    def _snapshot(self, nth: int) -> Snapshot:
        return Snapshot(
            nth=nth,
            moments=len(self.moments),
            at=self.now,
            objects=self._view.everything(),
            outside=self._outside_state(),
            timers=tuple(sorted(f"{controller} {key}: {cause}" for (controller, key), (_, _, cause) in self.activity.timers.items())),
            memory="|".join(process.memory for process in self.processes.values()),
        )

    def _outside_state(self) -> dict[str, Any]:
        return {name: deepcopy(fake.state()) for name, fake in self.outside.items() if callable(getattr(fake, "state", None))}

    async def _quiet_without_holds(self) -> None:
        """Waits until nothing else happens; then what is late comes, and it waits again."""
        await self._quiet()
        while any(wire.holds for wire in self.wires.values()):
            for wire in self.wires.values():
                for resource in list(wire.holds):
                    wire.release(resource)
            await self._quiet()

    async def _ask_again(self) -> None:
        """Every key is run once more, with nothing to do: whatever is done then is not idempotent."""
        for process in self.processes.values():
            process.trigger_all()
        await asyncio.sleep(1.0)
        await self._quiet()
        revision = self.plane.server.storage.revision
        self.tell(Rested(at=self.now, process="", nth=self._rests + 1, revision=revision))

    async def _quiet(self, *, without_processes: bool = False) -> None:
        began = self.now
        while True:
            self._check()
            until = self.activity.quiet_until(began)
            if self.now >= until and (without_processes or self._is_idle()):
                return
            if self.now - began > PATIENCE:
                raise Restless(f"after {PATIENCE / 3600:.0f} simulated hours it still goes on")
            await self._nap(max(1.0, until - self.now))

    async def _passes(self, seconds: float) -> None:
        """So much time passes; what would never end is noticed."""
        until = self.now + seconds
        while self.now < until:
            self._check()
            await self._nap(until - self.now)

    async def _nap(self, seconds: float) -> None:
        """So much time passes, less if there will never be rest."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.activity.noticed.wait(), seconds)

    def _check(self) -> None:
        if self._trouble:
            raise Unsound(self._trouble)
        if endless := self.activity.endless:
            raise Restless(endless)

    def _is_idle(self) -> bool:
        if len(self.processes) < self.case.leaders or any(wire.is_silent for wire in self.wires.values()):
            return False
        idle = all(process.is_idle for process in (*self.processes.values(), *self.environment.values()))
        return idle and self.plane.is_idle and not self._failing()

    def _failing(self) -> bool:
        """Whether a failed run will be tried again soon: that is no rest."""
        return any(cause == "backoff" and after <= 60.0 for _, after, cause in self.activity.timers.values())


def _innermost(error: BaseException) -> str:
    """An exception in words; of a group, the first that is none."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"


def _as_written(key: Key, change: Change) -> Key:
    """The key, with a star for what the server has made up in a new object's name."""
    if change.previous is not None:
        return key
    beginning = msgspec.json.decode(change.record.value).get("metadata", {}).get("generateName")
    return Key(key.resource, key.namespace, f"{beginning}*") if beginning else key


def _essence(value: bytes) -> dict[str, Any]:
    """An object without bookkeeping."""
    obj: dict[str, Any] = msgspec.json.decode(value)
    metadata = obj.get("metadata", {})
    for name in ("managedFields", "resourceVersion", "generation"):
        metadata.pop(name, None)
    return obj


def execute(case: Case, plan: Plan, workload: Workload, loaders: Loaders) -> Recording:
    """One run of a case under a plan. `workload` is the case's own, or a variant of it."""
    return Execution(case, plan, workload, loaders).run()
