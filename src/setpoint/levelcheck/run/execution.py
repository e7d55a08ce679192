"""`Execution`: one run, from an empty cluster to its end, and the recording of it.

Everything in it is the production code on one simulated loop. The server, the cluster's own controllers and the user never fail; what goes
wrong goes wrong on the wires and in the processes of the controller that is checked.
"""

from __future__ import annotations

import asyncio
import contextvars
import traceback
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, Literal, TypeVar

import msgspec

from setpoint.api import GroupVersionKind
from setpoint.cluster import ControlPlane
from setpoint.cluster.server.kinds import ServedKind
from setpoint.cluster.server.storage import Change
from setpoint.levelcheck.case import Case
from setpoint.levelcheck.plan import Decision, Plan, Site
from setpoint.levelcheck.process import InLoop, SimulatedProcess, Surroundings
from setpoint.levelcheck.processes.fresh import Loaded
from setpoint.levelcheck.recording import (
    AnyMoment,
    Changed,
    Failed,
    Faulted,
    Key,
    Recording,
    Snapshot,
    essence,
)
from setpoint.levelcheck.run.foreign import Foreign
from setpoint.levelcheck.run.hearing import Hearing
from setpoint.levelcheck.run.programs import Programs
from setpoint.levelcheck.run.quiet import Joined, Quiet, Restless, Unsound
from setpoint.levelcheck.run.rest import Activity
from setpoint.levelcheck.run.sites import Fork, Sites
from setpoint.levelcheck.run.user import User
from setpoint.levelcheck.run.view import StateView
from setpoint.levelcheck.run.wire import BOOKKEEPING, LATENCY, Wire
from setpoint.levelcheck.workload import Workload
from setpoint.world import SeededChance, SimulatedLoop, World, new_loop, simulated_world

T = TypeVar("T")

TO_START = 120.0
"""Simulated seconds that controllers may take until all have started."""


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
        self._primaries: dict[str, str] = {}
        self.sites = Sites(plan.decisions, fork)
        self.moments: list[AnyMoment] = []
        self.foreign = Foreign(self)
        self.hearing = Hearing(self)
        self.programs = Programs(self)
        self.quiet = Quiet(self)
        self.user = User(self)
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
        self.began = 0.0
        self._end: Literal["rest", "restless", "broken"] = "rest"
        self._end_why = ""
        self._watched: tuple[str, ...] = ()
        self._raw: tuple[str, ...] = ()
        self.is_ending = False
        self.view = StateView(self)
        self.violated: dict[str, str] = {}
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
        return self.view.get(key)

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
        )
        self._changes[change.revision] = moment
        self.moments.append(moment)
        passing = any(wire.is_behind for wire in self.wires.values())
        self.activity.changed(key, self.now, passing=passing)
        pattern = _pattern(moment) if change.deleted or change.previous is None else key
        if pattern != key:
            self.activity.came_or_went(str(pattern), went=change.deleted, passing=passing)
        for wire in self.wires.values():
            for held, hold in list(wire.holds.items()):
                overwritten = hold.ends_with_the_next_change and hold.key == key
                if overwritten or (hold.how == "other" and held != resource):
                    self.end_hold(wire, held)
        if (own := self.wires.get(self._acting)) is not None and (own.holds or own.is_silent):
            for held in own.process_wrote(pattern):
                self.end_hold(own, held)
        if self.case.invariants and self.began:
            self._judge(change.revision)

    def _judge(self, revision: int) -> None:
        for invariant in self.case.invariants:
            name = getattr(invariant, "__name__", "invariant")
            try:
                said = None if name in self.violated else invariant(self.view)
            except Exception as error:  # it is asked within a write of the server, whose fault this is not
                self.programs.trouble = f"the invariant {name} raises {type(error).__name__}: {error}"
                return
            if said:
                self.violated[name] = f"{said} (revision {revision}, {self.now:.1f} s)"

    def was_effective(self, revision: int) -> bool:
        """Whether a revision changed more than bookkeeping."""
        change = self._changes.get(revision)
        return change is not None and (change.before is None or change.deleted or essence(change.before) != essence(change.after))

    def made_since(self, revision: int, key: Key) -> tuple[int, Key]:
        """The revision that a write of an object has made since then (0: none), and the object's key, now that its name is known."""
        for made in range(self.plane.server.storage.revision, revision, -1):
            found = self._of_revision.get(made)
            if found is not None and found[0].resource == key.resource and (key.name.endswith("*") or found[0].name == key.name):
                return made, found[0]
        return 0, key

    def end_hold(self, wire: Wire, resource: str) -> None:
        """What is late with a process comes shortly."""
        self.loop.call_later(2 * LATENCY, partial(wire.release, resource), context=contextvars.Context())

    def has_changed_since(self, revision: int) -> bool:
        """Whether the object that a revision is of has a newer one."""
        key = self.key_of(revision)
        return any(found[0] == key for later, found in self._of_revision.items() if later > revision)

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
        return [] if found is None or not self.began else self.decide(found[1], wire.process)

    def revision_before(self, object: str) -> int:
        """The revision before a change that is named as a place: `pods default/a#2`; without one, the beginning."""
        text, _, nth = object.rpartition("#")
        for revision, (_, site) in self._of_revision.items():
            if site.what == text and site.nth == int(nth):
                return revision - 1
        return max(1, min(self._of_revision, default=2) - 1)

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
            objects=self.view.everything(),
            outside=self.outside_state(),
            end=self._end,
            why=self._end_why,
            unused=self.sites.unused,
            began=self.began,
            ended=self.now,
            runs=self.activity.runs,
            steps=self.loop.steps,
            watched=self._watched,
            raw=self._raw,
            violated=tuple(f"{name}: {said}" for name, said in self.violated.items()),
            rests=tuple(self.quiet.snapshots),
            primaries=self._primaries,
            joined=self.quiet.joined,
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
            await self.user.work(self.workload)
            if all(decision.fault == "F11" for decision in self.plan.decisions):
                await self.quiet.ask_again()
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
            self.is_ending = True

    async def _begin(self) -> None:
        await self.plane.__aenter__()
        old: dict[str, int] = {}
        self.programs.start_environment()
        for decision in self.decide(self.sites.site("start"), ""):
            match decision.fault:
                case "F11":
                    self.hearing.every_run_twice = True
                case "F17":
                    self.programs.skew = timedelta(seconds=decision.seconds)
                case "F22":
                    self.programs.reversed_lists = True
                case "F16":
                    old[decision.resource] = self.revision_before("")
                case _:
                    raise ValueError(f"{decision}: this cannot happen at the start")
        self.programs.start_all(old)
        while not (self.programs.are_idle and self.plane.is_idle):
            self.quiet.check()
            if self.now > TO_START:
                raise Unsound(f"the controllers have not started within {TO_START:g} seconds")
            await asyncio.sleep(0.05)
        self.began = self.now
        self.activity.last_change = self.now

    def outside_state(self) -> dict[str, Any]:
        """What each fake that has a state says of it."""
        return {name: deepcopy(fake.state()) for name, fake in self.outside.items() if callable(getattr(fake, "state", None))}


def _pattern(change: Changed) -> Key:
    """The object's key, with a star for what the server has made up in its name: `pods default/web-*`."""
    beginning = msgspec.json.decode(change.after)["metadata"].get("generateName")
    return Key(change.key.resource, change.key.namespace, f"{beginning}*") if beginning else change.key
