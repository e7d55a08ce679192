"""`Manager`: the life of controllers in a process.

It goes through its phases once, in order: caches and queues first, then runs (where there is a leader election, as soon as it leads), until
it is told to stop; then nothing new is taken up, what runs may end within a deadline, and what has not ended by then is cancelled. Last of
all the leadership is given back. Controllers may be added at any time before the end.
"""

from __future__ import annotations

import asyncio
import logging
from asyncio import FIRST_COMPLETED
from collections.abc import Callable, Coroutine, Iterable
from contextlib import AbstractAsyncContextManager, ExitStack
from datetime import datetime
from enum import Enum
from functools import partial
from typing import Any, TypeAlias

import msgspec

from setpoint.cache import Cache
from setpoint.cache.events import ReflectorState
from setpoint.client import Client, Connection
from setpoint.controller import Controller, ControllerRuntime, Watch
from setpoint.controller.thread_pool import THREADS, ThreadPool
from setpoint.manager.debug_endpoint import serve_debug
from setpoint.manager.election import LeaderElection, LeadershipLost
from setpoint.manager.embedding import Running
from setpoint.manager.endpoints import serve
from setpoint.manager.flight_recorder import FlightRecorder
from setpoint.manager.health import Check, Health, staleness
from setpoint.manager.leadership import Leadership
from setpoint.manager.loops import Loop
from setpoint.manager.memory import CacheMemory
from setpoint.manager.metrics import Metrics
from setpoint.manager.namespaces import Followed, scope_of
from setpoint.manager.permissions import TO_FOLLOW, needs_of
from setpoint.manager.self_check import Refusals, check
from setpoint.manager.thread_pool_use import ThreadPoolUse
from setpoint.manager.why import cached
from setpoint.objects import Object, Request, Scheme, kind_of
from setpoint.world import Event, World
from setpoint.world.watchdog import Watchdog

log = logging.getLogger("setpoint.manager")


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """How a manager behaves; the defaults are controller-runtime's where it has one.

    `namespace`, or `namespaces`, restrict what is watched; without any, all are. With `namespace_labels` (`"team=a"`) those with these
    labels are, as labels and namespaces change. `metrics`, `health` and `hooks` are addresses (host, port), None for no endpoint.
    `grace` is the seconds that runs may take to end after `stop`. After `patience` seconds a run that has not ended is named in a warning;
    so is the place at which the event loop is blocked for `blocked` seconds, and a kind that is not there yet, every `waiting` seconds.
    `process_metrics` adds the program's own figures, `request_metrics` how long requests take and how large they are.
    With `leader_election`, of all processes that name the same Lease one at most runs its controllers.
    What the server does not allow is said at the start, unless `check_permissions` is false or time is simulated; with
    `require_permissions`, a manager that may not read what its controllers watch does not start.
    `threads` is how many plain `def` reconcilers run at a time, of all controllers together.
    The `flight_recorder` remembers the last runs of each key, and finds those that go round in circles; `debug` is the address at which it
    is asked.
    """

    namespace: str = ""
    namespaces: tuple[str, ...] = ()
    namespace_labels: str = ""
    check_permissions: bool = True
    require_permissions: bool = False
    metrics: tuple[str, int] | None = None
    health: tuple[str, int] | None = None
    hooks: tuple[str, int] | None = None
    host: str = ""
    grace: float = 30.0
    patience: float = 60.0
    blocked: float = 1.0
    waiting: float = 10.0
    process_metrics: bool = False
    request_metrics: bool = False
    leader_election: LeaderElection | None = None
    flight_recorder: bool = True
    debug: tuple[str, int] | None = None
    threads: int = THREADS


class Phase(Enum):
    """Where a manager is in its life; it only goes forward."""

    NEW = "new"
    RUNNING = "running"
    STOPPING = "stopping"
    ENDED = "ended"


class Manager:
    """Runs controllers against one API server.

    `connection` is the server; `world` gives time, chance, threads and sockets. The scheme, the metrics and whatever was said once belong
    to this manager alone, so any number of them may run in one program, the same controllers among them.
    """

    def __init__(self, connection: Connection, *, scheme: Scheme | None = None, options: Options | None = None) -> None:
        self.options: Options = options or Options()
        self.world: World = connection.world
        self.scheme: Scheme = scheme or Scheme()
        self.client: Client = Client(connection, scheme=self.scheme)
        self._scope = scope_of(self.options.namespace, self.options.namespaces, self.options.namespace_labels)
        self.cache: Cache = Cache(connection, self.scheme, scope=self._scope)
        labels = self.options.namespace_labels
        self._followed: Followed | None = Followed(self.cache, labels) if labels else None
        self.metrics: Metrics = Metrics(self.world.clock, self.options.host, request_metrics=self.options.request_metrics)
        self.metrics.registry.register(CacheMemory(self.cache))
        self.metrics.include_caches(
            lambda: [(informer.info.group_version_resource.group_resource, informer.last_contact) for informer in self.cache.informers]
        )
        self.flight_recorder: FlightRecorder | None = None
        if self.options.flight_recorder:
            self.flight_recorder = FlightRecorder(self.world.clock, partial(cached, self), self._goes_round)
        self.phase: Phase = Phase.NEW
        self.addresses: list[str] = []
        self.debug_address: str = ""
        self._runtimes: dict[str, ControllerRuntime] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._stop: asyncio.Event = asyncio.Event()
        self._failure: RuntimeError | None = None
        self._leadership: Leadership | None = None
        self._may_work = asyncio.Event()
        self._warm = False
        self._threads = ThreadPool(self.world, self.options.threads)
        self.metrics.registry.register(ThreadPoolUse(self._threads))
        self._refusals = Refusals()
        self.health: Health = Health()
        self.add_ready_check("caches", self._caches)
        if (election := self.options.leader_election) is not None:
            self._leadership = leadership = Leadership(connection, election)
            self.metrics.include_election(election.name, lambda: leadership.is_leader)
            self.add_health_check("leader-election", leadership.problem)

    @property
    def is_leader(self) -> bool:
        """Whether this process may write. Without leader election it always may."""
        return self._leadership is None or self._leadership.is_leader

    def now(self) -> datetime:
        """The wall time, in UTC, by the manager's clock."""
        return self.world.clock.now()

    @property
    def namespaces(self) -> tuple[str, ...] | None:
        """The namespaces that are watched; None for all of them."""
        return self._scope.names

    def set_namespaces(self, names: Iterable[str]) -> None:
        """Watches these namespaces from now on. What has come is listed and reconciled; what has gone is not looked at any more.

        Raises `ValueError` for what is no name of a namespace, where all are watched, and where they are found by their labels.
        """
        if self._followed is not None:
            raise ValueError(f"the namespaces of this manager are those with labels {self.options.namespace_labels}")
        self.cache.set_namespaces(names)

    @property
    def kinds(self) -> list[type[Object]]:
        """All kinds that the controllers added so far watch or own, each once."""
        return list(dict.fromkeys(kind for runtime in self._runtimes.values() for kind in runtime.controller.kinds))

    @property
    def controllers(self) -> list[ControllerRuntime]:
        """The controllers added so far, in that order."""
        return list(self._runtimes.values())

    def add(self, *controllers: Controller[Any]) -> None:
        """Takes controllers; while the manager runs they start at once: as soon as their caches are complete, and it leads.

        Raises `ValueError` for a name that is taken, `TypeError` for a controller without reconciler, `RuntimeError` after the end.
        """
        for controller in controllers:
            if self.phase in (Phase.STOPPING, Phase.ENDED):
                raise RuntimeError(f"{controller} comes too late: the manager is {self.phase.value}")
            if not isinstance(controller, Controller):
                raise TypeError(f"Manager.add takes controllers, not {controller!r}")
            if controller.name in self._runtimes:
                raise ValueError(
                    f"two controllers are named {controller.name!r}: metrics, logs and field ownership could not tell them apart; "
                    f"give one of them another name: Controller({controller.kind.__name__}, name=...)"
                )
            _ = controller.declared_reconciler  # says now, and not at the start, that there is none
            self.metrics.include_controller(controller.name, controller.concurrency)
            if self.flight_recorder is not None:
                self.flight_recorder.include_controller(controller.name, kind_of(controller.kind).kind)
            runtime = ControllerRuntime(
                controller,
                world=self.world,
                cache=self.cache,
                client=self.client,
                scheme=self.scheme,
                threads=self._threads,
            )
            self._runtimes[controller.name] = runtime
            if self._warm and self.phase is Phase.RUNNING:
                self._start(runtime)

    def trigger(self, controller: Controller[Any] | str, request: Request, reason: str = "") -> None:
        """Asks for a run, as a watch would: `await manager.run()` must be at work or to come, in this thread's event loop.

        `reason` is for logs. Raises `LookupError` for a controller that was not added, `ValueError` for what is no key of its kind.
        """
        self._runtime(controller).inflow.intake.add(request, reason or "triggered")

    def trigger_all(self, controller: Controller[Any] | str, reason: str = "") -> None:
        """Asks for a run of every object of the controller's kind, behind what is fresh; the objects are those in the cache.

        Before the start there is nothing to ask for: every object is reconciled then.
        """
        self._runtime(controller).trigger_all(reason or "triggered")

    def trigger_threadsafe(self, controller: Controller[Any] | str, request: Request, reason: str = "") -> None:
        """As `trigger`, from any thread. What is wrong with the request is raised at once. Raises `RuntimeError` after the end."""
        self._runtime(controller).inflow.intake.add_threadsafe(request, reason or "triggered")

    async def add_watch(self, controller: Controller[Any] | str, watch: Watch) -> Watch:
        """Lets a controller watch one more kind from now on, as ``controller.new_watch(Kind, map=...)`` says; gives the watch back.

        It returns when every object that is there has been heard of, and waits for a kind that the server does not have yet. Raises
        `LookupError` for a controller that was not added.
        """
        await self._runtime(controller).add_watch(watch)
        return watch

    async def remove_watch(self, controller: Controller[Any] | str, watch: Watch) -> None:
        """Ends a watch that was added by `add_watch`; the server is watched no longer if nothing else needs it. Raises `LookupError`."""
        await self._runtime(controller).remove_watch(watch)

    def _runtime(self, controller: Controller[Any] | str) -> ControllerRuntime:
        name = controller if isinstance(controller, str) else controller.name
        runtime = self._runtimes.get(name)
        if runtime is None or not (isinstance(controller, str) or runtime.controller is controller):
            raise LookupError(f"this manager has no controller {name!r}: add it first" if runtime is None else f"this is another {name!r}")
        return runtime

    def stop(self) -> None:
        """Asks `run` to end: gracefully, and once."""
        self._stop.set()

    def running(self) -> Running:
        """Runs while an `async with` block of a program that has a loop of its own does: `async with manager.running(): ...`.

        The end of the block ends it gracefully. Should it end by itself, the block is cancelled and the reason raised in its place.
        """
        return Running(self)

    async def run(self) -> None:
        """Runs until `stop`, or until cancelled, which ends without grace. Raises `PortInUse` if an endpoint's port is taken.

        A controller that cannot start because its caches are not complete (its CRD is missing, the server is away) waits for that, and
        says so; nothing that a server or a reconciler does ends the manager. Should a part of it end by itself all the same, it ends the
        rest gracefully and raises `RuntimeError`: a process that is gone is noticed and started again, one that has gone blind is not.

        With leader election, it fills its caches and queues while it waits for the leadership, so that its controllers work as soon as it
        leads; till then predicates and mappers are called, but no reconciler. From here on, a write that
        leaves when it does not lead raises `NotLeading`. It gives the leadership back when all its work has ended. If it loses it before
        that, it ends without grace and raises `LeadershipLost`. With `require_permissions` it may raise `PermissionsMissing` at its start.
        """
        if self.phase is not Phase.NEW:
            raise RuntimeError(f"a manager runs once, and this one is {self.phase.value}")
        self.phase = Phase.RUNNING
        options, observer = self.options, self.world.observer
        if options.hooks is None and (hooked := [name for name, runtime in self._runtimes.items() if runtime.controller.hooks]):
            log.warning("the hooks of %s are served nowhere: give Options(hooks=(host, port)), or --hooks-bind-address", ", ".join(hooked))
        if options.process_metrics:
            self.metrics.include_process()
        try:
            with ExitStack() as listening:
                listening.callback(observer.subscribe(self.metrics.hear))
                listening.callback(observer.subscribe(self._hear))
                listening.callback(observer.subscribe(self._refusals.hear))
                if self.flight_recorder is not None:
                    listening.callback(observer.subscribe(self.flight_recorder.hear))
                if not self.world.simulated:
                    loop = asyncio.get_running_loop()
                    listening.enter_context(Watchdog(loop, options.blocked, _say_blocked))
                # The endpoints come first and go last: a port that is taken is said before anything has begun.
                async with (
                    serve_debug(self, options.debug) as self.debug_address,
                    serve(
                        self.world,
                        registry=self.metrics.registry,
                        live=self.health.live,
                        ready=self.health.ready,
                        metrics=options.metrics,
                        health=options.health,
                        hooks=options.hooks,
                        controllers=self._runtimes.get,
                    ) as self.addresses,
                ):
                    await self._run_controllers()
        finally:
            self.phase = Phase.ENDED

    async def _check_permissions(self) -> None:
        options = self.options
        namespaces = ("",) if self._scope.names is None else self._scope.names
        needs = needs_of((runtime.controller for runtime in self._runtimes.values()), namespaces, options.leader_election)
        if self._followed is not None:
            needs += TO_FOLLOW
        await check(self.client.connection, needs, self._refusals, require=options.require_permissions)

    async def _run_controllers(self) -> None:
        checking: asyncio.Task[None] | None = None
        if self.options.require_permissions:
            await self._check_permissions()
        elif self.options.check_permissions and not self.world.simulated:
            checking = asyncio.create_task(self._check_permissions(), name="the check of permissions")
            checking.add_done_callback(_say_failed)
        caching = self._spawn("the cache", self.cache.run())
        following = [] if self._followed is None else [self._spawn("the search for namespaces", self._followed.run())]
        watching = self._spawn("the watch over runs", self._watch_over())
        leading = None if self._leadership is None else self._spawn("the leader election", self._leadership.run())
        try:
            if self._leadership is None:
                self._may_work.set()
            self._warm = True
            for runtime in self._runtimes.values():
                self._start(runtime)
            if self._leadership is not None:
                await _first_of(self._stop, self._leadership.acquired)
                if not self._stop.is_set():
                    self._may_work.set()
            await self._stop.wait()
            await self._end_gracefully(leading)
        finally:
            self.phase = Phase.STOPPING
            for task in (watching, *following, *self._running.values()):
                task.cancel()
            for runtime in self._runtimes.values():
                await runtime.stop(wait=False)
            if leading is not None:
                await self._give_up(leading)
            caching.cancel()
            if checking is not None:
                checking.cancel()
                await asyncio.gather(checking, return_exceptions=True)
            await asyncio.gather(watching, caching, *following, *self._running.values(), return_exceptions=True)
        if self._failure is not None:
            raise self._failure

    def _spawn(self, name: str, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name=name)
        task.add_done_callback(self._part_ended)
        return task

    def _part_ended(self, part: asyncio.Task[None]) -> None:
        """Every part of a manager runs until it is told to end."""
        error = None if part.cancelled() else part.exception()
        if isinstance(error, LeadershipLost):
            self._failure = error
            log.error("%s", error)  # as well: whoever runs the manager may look at how it ended much later
            self.stop()
        elif self.phase is Phase.RUNNING and self._failure is None:
            self._failure = RuntimeError(f"{part.get_name()} has ended, though nothing told it to, and so the manager cannot go on")
            self._failure.__cause__ = error
            log.error("%s", self._failure, exc_info=error)
            self.stop()
        elif error is not None:
            log.error("%s has failed while the manager ends: %s", part.get_name(), error, exc_info=error)

    @property
    def has_started(self) -> bool:
        """Whether every controller added so far is at work, all that it reads being complete."""
        return self.phase is Phase.RUNNING and all(runtime.has_started for runtime in self._runtimes.values())

    @property
    def is_idle(self) -> bool:
        """Whether every controller is at work and has nothing to do but wait for a change or a timer."""
        return self.has_started and all(runtime.is_idle for runtime in self._runtimes.values())

    def _start(self, runtime: ControllerRuntime) -> None:
        self._running[runtime.name] = self._spawn(f"controller {runtime.name!r}", runtime.run(when=self._may_work))

    async def _end_gracefully(self, leading: asyncio.Task[None] | None) -> None:
        """Lets runs end within the grace. There is none without the leadership: what they would write is held back anyway."""
        self.phase = Phase.STOPPING
        for name, running in self._running.items():
            if not self._runtimes[name].has_started:
                running.cancel()
        ending = [asyncio.create_task(runtime.stop(), name=f"stop {runtime.name}") for runtime in self._runtimes.values()]
        ended: asyncio.Future[Any] = asyncio.gather(*ending, return_exceptions=True)
        until = [ended] if leading is None else [ended, leading]
        await asyncio.wait(until, timeout=self.options.grace, return_when=FIRST_COMPLETED)
        if not ended.done():
            names = [runtime.name for runtime in self._runtimes.values() if runtime.active]
            why = f"after {self.options.grace:g} s" if leading is None or not leading.done() else "when the leadership was lost,"
            if names:
                log.warning("%s these still ran, and are cancelled: %s", why, ", ".join(names))
            for task in ending:
                task.cancel()
        await ended

    async def _give_up(self, leading: asyncio.Task[None]) -> None:
        """Gives the Lease back, now that all work has ended. Whether it was lost meanwhile does not matter any more."""
        if self._leadership is not None:
            self._leadership.give_up()
        await asyncio.wait([leading])

    @property
    def problems(self) -> list[str]:
        """What controllers that are not at work yet wait for, a sentence each."""
        return [
            f"{runtime.controller} waits for {informer.info.group_version_kind}: {informer.reason or f'it is {informer.state.name}'}"
            for runtime in self._runtimes.values()
            for informer in runtime.informers
            if not informer.has_synced
        ]

    def add_health_check(self, name: str, check: Check) -> None:
        """Has `/healthz` ask this too: a function that gives None when all is well, or a sentence; it may be `async`.

        Kubernetes kills a process whose liveness fails: it is for what only a new process can mend. A check that raises, or takes longer
        than 10 s, has failed. Raises `ValueError` for a name that is taken.
        """
        self.health.add(self.health.live, name, check)

    def add_ready_check(self, name: str, check: Check) -> None:
        """Has `/readyz` ask this too, likewise."""
        self.health.add(self.health.ready, name, check)

    def _caches(self) -> str | None:
        waiting = [name for name, runtime in self._runtimes.items() if not runtime.has_synced]
        if waiting:
            return "; ".join([f"caches are not complete yet for {', '.join(waiting)}", *dict.fromkeys(self.problems)])
        return staleness(self.cache.informers, self.world.clock.monotonic())

    def _goes_round(self, loop: Loop) -> None:
        log.warning("%s", loop.text, extra={"controller": loop.controller, "request": str(loop.request)})
        self.metrics.went_round(loop.controller)

    def _hear(self, event: Event) -> None:
        if isinstance(event, ReflectorState):
            log.debug("%s is %s %s", event.kind, event.state, event.reason)

    async def _watch_over(self) -> None:
        """Says what waits, and which runs do not end: once for each."""
        said: dict[tuple[str, str, float], None] = {}
        while True:
            await asyncio.sleep(self.options.waiting)
            for problem in self.problems:
                log.warning("%s", problem)
            now = self.world.clock.monotonic()
            for name, started in self.metrics.started.items():
                for run, at in started.items():
                    if now - at >= self.options.patience and (name, run, at) not in said:
                        said[name, run, at] = None
                        log.warning(
                            "the run %s has not ended for %.0f s: does it wait for something? A Controller(deadline=...) ends such runs",
                            run,
                            now - at,
                        )


def _say_failed(beside: asyncio.Task[None]) -> None:
    if not beside.cancelled() and (error := beside.exception()) is not None:
        log.error("%s has failed: %s", beside.get_name(), error, exc_info=error)


async def _first_of(*events: asyncio.Event) -> None:
    waiting = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, return_when=FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()


def _say_blocked(seconds: float, stack: str) -> None:
    log.warning(
        "the event loop has been blocked for %g s, and with it every watch and timer: an async reconciler must not compute or block for "
        "long; write it as a plain def, which runs in a thread, or await something that does not block. It is here:\n%s",
        seconds,
        stack.rstrip(),
    )


App: TypeAlias = Callable[[Manager], AbstractAsyncContextManager[None]]
"""What opens what controllers need, and adds them: an async context manager around a manager's run."""
