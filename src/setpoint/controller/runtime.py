"""`ControllerRuntime`: a controller that runs. Triggers fill the queue, workers empty it, and what a run comes to goes back into it.

After a write whose outcome is unknown, the key's next run waits until the cache has seen what came of it.
"""

from __future__ import annotations

import asyncio
from typing import Any

from setpoint.api import LabelSelector
from setpoint.cache import AnyInformer, Cache
from setpoint.client import Client
from setpoint.objects import Object, Request, Scheme, kind_of
from setpoint.world import World

from .backoff import Backoff
from .barrier import reach
from .beside import Beside
from .cluster_events import EventRecorder
from .controller import Controller, Watch
from .events import Held, Released, RunStarted
from .inflow import Inflow
from .memo import ApplyMemo
from .once import reconcile_once
from .outcome import Outcomes
from .queue import Queue
from .rate_limiters import limiter_for
from .reads import CachedReader
from .runner import Runner
from .said import Said
from .thread_pool import ThreadPool
from .tools import RunState, Tools, ends_the_caller
from .triggers import MappedTrigger, OwnedTrigger, PrimaryTrigger, Trigger
from .view import View

__all__ = ["ControllerRuntime", "reconcile_once"]


class ControllerRuntime:
    """Runs one controller against one cache and one client.

    Making it declares the informers that the controller needs in the cache, so that they are there before the cache runs; they look at the
    namespaces of the cache. Raises `TypeError` if the controller has no reconciler.
    """

    def __init__(
        self,
        controller: Controller[Any],
        *,
        world: World,
        cache: Cache,
        client: Client,
        scheme: Scheme | None = None,
        threads: ThreadPool | None = None,
    ) -> None:
        self.controller = controller
        self.world = world
        self.cache = cache
        if scheme is not None:
            scheme.add(*controller.kinds)
        view, said, self._beside = View(cache), Said(controller.name), Beside(controller.name)
        self.tools: Tools = Tools(
            controller=controller.name,
            world=world,
            client=client.bound(field_manager=controller.name, base=view.get, stripped=view.stripped),
            view=view,
            memo=ApplyMemo(),
            said=said,
            events=EventRecorder(controller.name, client=client, world=world, said=said, spawn=self._beside.spawn),
        )
        limiter = limiter_for(controller.rate_limiter, world, controller.name)
        self.queue: Queue = Queue(controller.name, limiter, world.observer, min_interval=controller.min_interval)
        self.active: int = 0
        self._runner = Runner(controller, self.tools, threads or ThreadPool(world))
        self._reader = CachedReader(self.tools.client, view, self.tools.said)
        self._triggers: list[Trigger] = []
        self._added: dict[MappedTrigger, Watch] = {}
        self._workers: list[asyncio.Task[None]] = []
        self._holds = Beside(controller.name)
        self._outcomes = Outcomes(controller.name, self.queue)
        self._started = self._listening = self._working = self._stopped = False
        self._declare()
        self._inflow = Inflow(
            controller,
            queue=self.queue,
            primary=self._triggers[0].informer,
            tools=self.tools,
            world=world,
            scope=cache.scope,
        )

    @property
    def name(self) -> str:
        """The controller's."""
        return self.controller.name

    @property
    def has_synced(self) -> bool:
        """Whether everything that it watches has been complete once."""
        return all(trigger.informer.has_synced for trigger in self._triggers)

    @property
    def has_started(self) -> bool:
        """Whether every object has been enqueued and its workers are at work."""
        return self._working

    @property
    def informers(self) -> list[AnyInformer]:
        """What it watches, the primary kind first; an informer that serves two watches is there twice."""
        return [trigger.informer for trigger in self._triggers]

    @property
    def is_idle(self) -> bool:
        """Whether nothing is to be done but wait for a change or a timer."""
        mapped = all(trigger.is_idle for trigger in self._triggers if isinstance(trigger, MappedTrigger))
        return self.queue.is_idle and not self._beside.tasks and mapped and self._inflow.is_idle

    async def run(self, *, when: asyncio.Event | None = None) -> None:
        """Waits for its informers, then reconciles every object once and each again when something changes, until `stop`.

        With `when`, it fills its queue at once, and reconciles from that event on. Cancelling it cancels the runs in progress; `stop` lets
        them end. Raises what ends a worker, which no reconciler's failure does.
        """
        try:
            await self.listen()
            if when is not None:
                await when.wait()
            self.work()
            await asyncio.gather(*self._workers)
        except BaseException:
            await self.stop(wait=False)
            raise

    async def start(self) -> None:
        """As `run`, but returns once every object is enqueued and the workers run."""
        await self.listen()
        self.work()

    async def listen(self) -> None:
        """Waits for its informers, and returns when every object is enqueued; from now on so is what changes. Nothing runs yet."""
        if self._started:
            raise RuntimeError(f"{self.controller} runs already")
        self._started = True
        for trigger in list(self._triggers):
            await trigger.informer.synced()
        if self._stopped:
            return
        self._listening = True
        for trigger in self._triggers:
            trigger.start()

    def work(self) -> None:
        """Starts the workers, and what asks for runs beside the watches. It listens already, and has not been stopped."""
        if self._stopped or self._working:
            return
        self._working = True
        loop = asyncio.get_running_loop()
        for number in range(self.controller.concurrency):
            self._workers.append(loop.create_task(self._work(), name=f"{self.name}-worker-{number}"))
        self._inflow.start(self._beside.context)

    @property
    def takes_calls(self) -> bool:
        """Whether what is asked for from outside will be done: it has started and not been stopped."""
        return self._working and not self._stopped

    def trigger_all(self, reason: str) -> None:
        """Enqueues every object of its kind, as soon as others let it; before the start it need not, since that does."""
        if self.takes_calls:
            self._beside.spawn(self._inflow.intake.all(reason))

    @property
    def inflow(self) -> Inflow:
        """What comes into its queue beside its watches."""
        return self._inflow

    async def stop(self, *, wait: bool = True) -> None:
        """Takes up nothing more. With `wait`, returns when the runs in progress have ended; else cancels them first.

        It may be called again, without `wait`, when waiting took too long.
        """
        if not self._stopped:
            self._stopped = True
            self.queue.shut_down()
            self.tools.memo.close()
            self._holds.cancel()
            self._inflow.close()
        for trigger in list(self._triggers):  # again, where stopping it was cut short
            await trigger.stop()
        if not wait:
            self._inflow.close()
            for task in self._workers:
                task.cancel()
            self._beside.cancel()
        await asyncio.gather(*self._workers, *self._holds.tasks, self._inflow.closed(wait=wait), return_exceptions=True)
        if wait:
            await self.tools.events.flush()
        else:
            self.tools.events.close()
        await asyncio.gather(*self._beside.tasks, return_exceptions=True)

    async def add_watch(self, watch: Watch) -> None:
        """Watches one more kind while it runs, as `Controller.watch` declares it; returns when its start-up listing has enqueued.

        A kind that the server does not have makes it wait. Cancelled, it has done nothing. Every object that is there is mapped, also
        where its informer has been at work for long.
        """
        trigger = self._mapped(watch)
        try:
            if self._started:
                await trigger.informer.synced()
        except BaseException:
            await self.cache.release(trigger.informer)
            raise
        if self._stopped:
            return
        self._added[trigger] = watch
        self._take_up(trigger)
        if self._listening:  # else `start` will listen to it, with all others
            trigger.start()

    async def remove_watch(self, watch: Watch) -> None:
        """Ends a watch that was added by `add_watch`. The server is watched no longer if nothing else needs it.

        Raises `LookupError` for any other watch.
        """
        for trigger, added in self._added.items():
            if added is watch:
                return await self._remove(trigger)
        raise LookupError(f"{self.controller} was not given this watch of {watch.kind.__name__} by add_watch, or has ended it")

    async def remove_watches(self, kind: type[Object]) -> None:
        """Ends every watch of a kind that was added by `add_watch`."""
        for trigger in [trigger for trigger in self._added if trigger.kind is kind]:
            await self._remove(trigger)

    async def _remove(self, trigger: MappedTrigger) -> None:
        del self._added[trigger]
        self._triggers.remove(trigger)
        self.tools.view.hears_no_more(trigger.informer)
        await trigger.stop()
        await self.cache.release(trigger.informer)

    # triggers

    def _declare(self) -> None:
        controller, observer = self.controller, self.world.observer
        primary = kind_of(controller.kind)
        self._take_up(
            PrimaryTrigger(
                self.queue, self._informer(controller.kind, controller.labels, controller.fields), controller.predicate, observer
            )
        )
        for owned in controller.owned:
            informer = self._informer(owned.kind, owned.labels, owned.fields, metadata_only=owned.metadata_only)
            self._take_up(OwnedTrigger(self.queue, informer, primary, observer))
        for watch in controller.watches:
            self._take_up(self._mapped(watch))
        for index in controller.indexes:
            for holding in self.cache.holding(kind_of(index.kind)) or [self._informer(index.kind)]:
                self.cache.claim(holding)
                holding.index(index)

    def _take_up(self, trigger: Trigger) -> None:
        self._triggers.append(trigger)
        self.tools.view.hears(trigger.informer)

    def _mapped(self, watch: Watch) -> MappedTrigger:
        return MappedTrigger(
            self.queue,
            self._informer(watch.kind, watch.labels, watch.fields, metadata_only=watch.metadata_only),
            watch.predicate,
            watch.mapper,
            self._reader,
            Backoff(self.world.chance),
            self.world.observer,
            read_as=Object if watch.metadata_only else watch.kind,
            priority=watch.priority,
        )

    def _informer(
        self, kind: type[Object], labels: LabelSelector | None = None, fields: str = "", *, metadata_only: bool = False
    ) -> AnyInformer:
        return self.cache.informer(kind, labels=str(labels or ""), fields=fields, metadata_only=metadata_only)

    # runs

    async def _work(self) -> None:
        while (key := await self.queue.get()) is not None:
            if not self.cache.scope.holds(key.namespace):
                self._pass_over(key)
                continue
            self.active += 1
            self._inflow.ran(key)
            state, succeeded = RunState(f"{self.name} {key}"), False
            try:
                succeeded = await self._reconcile(key, state)
                if not state.has_landed:
                    await state.landed()
            finally:
                self.active -= 1
                if state.unknown and not self._stopped:
                    self.queue.hold(key)
                    self._holds.spawn(self._release(key, state, succeeded))
                elif succeeded:
                    self.queue.rest(key)
                else:
                    self.queue.done(key)

    def _pass_over(self, key: Request) -> None:
        """Its namespace is not looked at any more, or never was: no run could see what there is."""
        self.tools.said.once(
            "not looked at", key.namespace, f"requests in namespace {key.namespace!r} are passed over: the manager does not watch it"
        )
        self._outcomes.forget(key)
        self.queue.done(key)

    async def _reconcile(self, key: Request, state: RunState) -> bool:
        """One run, and what follows from how it ended; whether it succeeded. Raises nothing but what ends the worker or the program."""
        clock, observer, run = self.world.clock, self.world.observer, state.name
        started = clock.monotonic()
        if observer.heard:
            observer.emit(RunStarted(controller=self.name, request=key, run=run, at=started))
        error: BaseException | None = None
        try:
            outcome = self._outcomes.succeeded(key, await self._runner.run(key, state))
        except BaseException as raised:
            if ends_the_caller(raised):
                raise
            error = raised
            outcome = self._outcomes.failed(key, raised)
        if observer.heard:
            observer.emit(self._outcomes.told(key, run, outcome, clock.monotonic() - started, error))
        return error is None

    async def _release(self, key: Request, state: RunState, succeeded: bool) -> None:
        observer = self.world.observer
        observer.emit(Held(controller=self.name, request=key))
        try:
            await reach(self.tools, state.unknown)
        finally:
            self.queue.release(key, rest=succeeded)
        observer.emit(Released(controller=self.name, request=key))
