"""`Manager`: the life of controllers in a process.

It goes through its phases once, in order: caches and queues first, then runs (where there is a leader election, as soon as it leads), until
it is told to stop; then nothing new is taken up, what runs may end within a deadline, and what has not ended by then is cancelled. Last of
all the leadership is given back. Controllers may be added at any time before the end.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager, ExitStack
from datetime import datetime
from functools import partial
from typing import Any, TypeAlias

from setpoint.cache import Cache
from setpoint.cache.events import ReflectorState
from setpoint.client import Client, Connection
from setpoint.client.events import RequestDone
from setpoint.controller import Controller, ControllerRuntime, Watch
from setpoint.controller.thread_pool import ThreadPool
from setpoint.manager.election.leadership import Leadership
from setpoint.manager.embedding import Running
from setpoint.manager.endpoints import serve
from setpoint.manager.flight.debug_endpoint import serve_debug
from setpoint.manager.flight.recorder import FlightRecorder
from setpoint.manager.flight.why import cached
from setpoint.manager.grace import end_runs
from setpoint.manager.health import Check, Health
from setpoint.manager.life import Life, Phase, check_loop
from setpoint.manager.metrics import Metrics
from setpoint.manager.metrics.cache_memory import CacheMemory
from setpoint.manager.metrics.thread_pool import ThreadPoolUse
from setpoint.manager.namespaces import Followed, scope_of
from setpoint.manager.options import Options
from setpoint.manager.oversight import say_blocked, say_failed, say_round, say_state, say_unserved, unready, waits, watch_over
from setpoint.manager.permissions import TO_FOLLOW, needs_of
from setpoint.manager.self_check import Refusals, check
from setpoint.objects import Object, Request, Scheme, kind_of
from setpoint.world import Observer, World
from setpoint.world.watchdog import Watchdog

log = logging.getLogger("setpoint.manager")


class Manager:
    """Runs controllers against one API server.

    `connection` is the server; `world` gives time, chance, threads and sockets. The scheme, the metrics and whatever was said once belong
    to this manager alone, so any number of them may run in one program, the same controllers among them.
    """

    def __init__(self, connection: Connection, *, scheme: Scheme | None = None, options: Options | None = None) -> None:
        self.options: Options = options or Options()
        # Another manager of this world may run the same controllers on another cluster: each hears its own runs, the world all of them.
        connection = connection.heard_by(Observer(within=connection.world.observer))
        self.world: World = connection.world
        self.scheme: Scheme = scheme or Scheme()
        self.client: Client = Client(connection, scheme=self.scheme)
        self._scope = scope_of(self.options.namespace, self.options.namespaces, self.options.namespace_labels)
        self.cache: Cache = Cache(connection, self.scheme, scope=self._scope)
        labels = self.options.namespace_labels
        self._followed: Followed | None = Followed(self.cache, labels) if labels else None
        self.metrics: Metrics = Metrics(
            self.world.clock, self.options.host, request_metrics=self.options.request_metrics, when_asked=self.world.simulated
        )
        self.metrics.registry.register(CacheMemory(self.cache))
        self.metrics.include_caches(
            lambda: [(informer.info.group_version_resource.group_resource, informer.last_contact) for informer in self.cache.informers]
        )
        self.flight_recorder: FlightRecorder | None = None
        if self.options.flight_recorder:
            self.flight_recorder = FlightRecorder(self.world.clock, partial(cached, self), partial(say_round, self.metrics))
        self.addresses: list[str] = []
        self.debug_address: str = ""
        self._runtimes: dict[str, ControllerRuntime] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._life = Life()
        self._leadership: Leadership | None = None
        self._may_work = asyncio.Event()
        self._warm = False
        self._threads = ThreadPool(self.world, self.options.threads)
        self.metrics.registry.register(ThreadPoolUse(self._threads))
        self._refusals = Refusals()
        self.health: Health = Health()
        self.add_ready_check("caches", lambda: unready(self))
        if (election := self.options.leader_election) is not None:
            self._leadership = leadership = Leadership(connection, election)
            self.metrics.include_election(election.name, lambda: leadership.is_leader)
            self.add_health_check("leader-election", leadership.problem)

    @property
    def phase(self) -> Phase:
        """Where it is in its life."""
        return self._life.phase

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
        check_loop("Manager.set_namespaces")
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

    @property
    def has_started(self) -> bool:
        """Whether every controller added so far is at work, all that it reads being complete."""
        return self.phase is Phase.RUNNING and all(runtime.has_started for runtime in self._runtimes.values())

    @property
    def is_idle(self) -> bool:
        """Whether every controller is at work and has nothing to do but wait for a change or a timer."""
        return self.has_started and all(runtime.is_idle for runtime in self._runtimes.values())

    @property
    def problems(self) -> list[str]:
        """What controllers that are not at work yet wait for, a sentence each."""
        return waits(self._runtimes.values())

    def add(self, *controllers: Controller[Any]) -> None:
        """Takes controllers; while the manager runs they start at once: as soon as their caches are complete, and it leads.

        Raises `ValueError` for a name that is taken, `TypeError` for a controller without reconciler, `RuntimeError` after the end.
        """
        check_loop("Manager.add")
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

    def add_health_check(self, name: str, check: Check) -> None:
        """Has `/healthz` ask this too: a function that gives None when all is well, or a sentence; it may be `async`.

        Kubernetes kills a process whose liveness fails: it is for what only a new process can mend. A check that raises, or takes longer
        than 10 s, has failed. Raises `ValueError` for a name that is taken.
        """
        self.health.add(self.health.live, name, check)

    def add_ready_check(self, name: str, check: Check) -> None:
        """Has `/readyz` ask this too, likewise."""
        self.health.add(self.health.ready, name, check)

    def stop(self) -> None:
        """Asks `run` to end: gracefully, and once."""
        self._life.stop()

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
        self._life.begin()
        options, observer = self.options, self.world.observer
        if options.hooks is None:
            say_unserved(self.controllers)
        if options.process_metrics:
            self.metrics.include_process()
        try:
            with ExitStack() as listening:
                listening.callback(observer.subscribe(self.metrics.hear, self.metrics.hears))
                listening.callback(observer.subscribe(say_state, [ReflectorState]))
                listening.callback(observer.subscribe(self._refusals.hear, [RequestDone]))
                if self.flight_recorder is not None:
                    listening.callback(observer.subscribe(self.flight_recorder.hear, self.flight_recorder.hears))
                if not self.world.simulated:
                    loop = asyncio.get_running_loop()
                    listening.enter_context(Watchdog(loop, options.blocked, say_blocked))
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
            self._life.end()

    async def _run_controllers(self) -> None:
        checking: asyncio.Task[None] | None = None
        if self.options.require_permissions:
            await self._life.until_stopped(self._check_permissions())
            if self._life.told_to_stop.is_set():
                return
        elif self.options.check_permissions and not self.world.simulated:
            checking = asyncio.create_task(self._check_permissions(), name="the check of permissions")
            checking.add_done_callback(say_failed)
        caching = self._life.spawn("the cache", self.cache.run())
        following = [] if self._followed is None else [self._life.spawn("the search for namespaces", self._followed.run())]
        watching = self._life.spawn("the watch over runs", watch_over(self))
        leading = None if self._leadership is None else self._life.spawn("the leader election", self._leadership.run())
        try:
            if self._leadership is None:
                self._may_work.set()
            self._warm = True
            for runtime in self._runtimes.values():
                self._start(runtime)
            if self._leadership is not None:
                await self._life.stopped_or(self._leadership.acquired)
                if not self._life.told_to_stop.is_set():
                    self._may_work.set()
            await self._life.told_to_stop.wait()
            await self._end_gracefully(leading)
        finally:
            self._life.wind_down()
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
        if self._life.failure is not None:
            raise self._life.failure

    def _start(self, runtime: ControllerRuntime) -> None:
        self._running[runtime.name] = self._life.spawn(f"controller {runtime.name!r}", runtime.run(when=self._may_work))

    async def _end_gracefully(self, leading: asyncio.Task[None] | None) -> None:
        self._life.wind_down()
        for name, running in self._running.items():
            if not self._runtimes[name].has_started:
                running.cancel()
        await end_runs(self.controllers, grace=self.options.grace, leading=leading)

    async def _give_up(self, leading: asyncio.Task[None]) -> None:
        """Gives the Lease back, now that all work has ended. Whether it was lost meanwhile does not matter any more."""
        if self._leadership is not None:
            self._leadership.give_up()
        await asyncio.wait([leading])

    async def _check_permissions(self) -> None:
        options = self.options
        namespaces = ("",) if self._scope.names is None else self._scope.names
        needs = needs_of((runtime.controller for runtime in self._runtimes.values()), namespaces, options.leader_election)
        if self._followed is not None:
            needs += TO_FOLLOW
        await check(self.client.connection, needs, self._refusals, require=options.require_permissions)


App: TypeAlias = Callable[[Manager], AbstractAsyncContextManager[None]]
"""What opens what controllers need, and adds them: an async context manager around a manager's run."""
