"""`Cluster`: a control plane for one test, with plain calls, in simulated time.

Everything in it (API server, controllers, manager, client) is the production code on a simulated loop: an hour passes in milliseconds, the
same seed gives the same run, and no test sleeps or needs an event-loop plugin.
"""

from __future__ import annotations

import asyncio
import builtins
import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, AsyncExitStack, ExitStack, asynccontextmanager, suppress
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, TypeVar, overload

from setpoint.api import Operation, Transport
from setpoint.client import Client, Connection, InProcessTransport
from setpoint.client.install import install
from setpoint.client.verbs import Propagation
from setpoint.cluster import ControlPlane
from setpoint.cluster.faults import Faults
from setpoint.cluster.server.events import Served
from setpoint.controller import Controller, Result, reconcile_once
from setpoint.controller.events import RunEnded
from setpoint.manager import App, Manager, Options
from setpoint.manager.flight.why import NothingKnown, histories, in_words
from setpoint.objects import Object, Request, Untyped, kind_of
from setpoint.world import Event, SeededChance, World, new_loop, simulated_world

K = TypeVar("K", bound=Object)
T = TypeVar("T")

QUIET = 60.0
"""So many simulated seconds without a write mean that nothing is going on any more."""
PATIENCE = 24 * 3600.0
"""So many simulated seconds of writing without a pause mean that it never ends."""
HOT = 1000
"""So many writes of one object within a simulated minute mean the same, and long before a day of them has been simulated."""


class NotSettled(AssertionError):
    """The cluster goes on writing for ever, or a reconciler keeps failing."""


class Cluster(AbstractContextManager["Cluster"]):
    """A fresh cluster: `default` and the system namespaces are there, nothing else. Use it as a context, or by the fixture
    `setpoint_cluster`.

    `seed` decides all chance in it. With `workloads=False`, Deployments make no pods.
    """

    def __init__(self, *, seed: int | str = 0, workloads: bool = True) -> None:
        self._loop = new_loop()
        self.world: World = simulated_world(self._loop, seed=seed)
        self._writes: builtins.list[str] = []
        self._installed: dict[type[Object], None] = {}
        self._managers: dict[Manager, asyncio.Task[None]] = {}
        self._last_write = 0.0
        self._hot = _Hot()
        self._failed: dict[str, str] = {}
        self._revision = 0
        self._plane = ControlPlane(self.world, workloads=workloads)
        # Requests are under way for a moment that the seed decides, as on a network: so another seed is another order of events.
        self._latency = SeededChance(f"{seed}/latency")
        # What the test itself asks is spared the faults.
        own = InProcessTransport(self._plane.server.handle, latency=self._under_way)
        self._connection = Connection(own, self.world, user_agent="setpoint-test")
        self._client = Client(self._connection, field_manager="setpoint-test")
        self.world.observer.subscribe(self._hear)
        self._revision = self._plane.server.storage.revision
        self._run(self._plane.__aenter__())

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Ends everything in it. Called twice, it does nothing."""
        if self._loop.is_closed():
            return
        with ExitStack() as ending:  # the last first, and each of them, whatever another one raises
            ending.callback(self._loop.close)
            ending.push(self._check_that_nothing_is_left)
            ending.callback(lambda: self._run(self._plane.__aexit__(None, None, None)))
            ending.callback(self.stop)

    def _check_that_nothing_is_left(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            return  # there may be something then, and the error is what is to be told
        self._loop.raise_unseen()
        left = sorted(asyncio.all_tasks(self._loop), key=hash)
        assert not left, f"tasks were left running: {', '.join(task.get_name() for task in left)}"

    # objects

    def create(self, obj: K, /) -> K:
        """Creates an object, and gives it as the server has it. Its kind is installed if need be."""
        return self._run(self._prepared(obj, self._client.create(obj)))

    @overload
    def apply(self, obj: K, /) -> K: ...
    @overload
    def apply(self, obj: Mapping[str, Any], /) -> Untyped: ...
    def apply(self, obj: Any, /) -> Any:
        """Applies an object, or a manifest as a mapping, on the server's side."""
        return self._run(self._prepared(obj, self._client.apply(obj)))

    def get(self, kind: type[K], key: Request | str, /) -> K | None:
        """The object as the server has it now, or None. The key is a `Request` or text: `"namespace/name"`, or a name without namespace."""
        return self._run(self._prepared(kind, self._client.get(kind, key)))

    def list(self, kind: type[K], /, *, namespace: str | None = None, labels: str | Mapping[str, str] | None = None) -> builtins.list[K]:
        """The objects of a kind as the server has them now, by namespace and name."""
        return self._run(self._prepared(kind, self._client.list(kind, namespace=namespace, labels=labels)))

    def update(self, obj: K, /) -> K:
        """Writes what was changed in an object that was read before; brings it up to the server's answer, and gives it."""
        return self._run(self._client.update(obj))

    def update_status(self, obj: K, /) -> K:
        """The same for its status."""
        return self._run(self._client.update_status(obj))

    def refresh(self, obj: K, /) -> K:
        """The object as it is now. Raises `LookupError` if it is gone."""
        found = self.get(type(obj), obj.key)
        if found is None:
            raise LookupError(f"{kind_of(type(obj)).kind} {obj.key} is gone")
        return found

    def delete(self, obj: Object, /, *, propagation: Propagation = "Background") -> None:
        """Deletes an object; that it is gone already is no error. `propagation` says what becomes of what it owns."""
        self._run(self._client.delete(obj, propagation=propagation))

    # controllers

    def reconcile(self, controller: Controller[Any], request: Request, /) -> Result | None:
        """One run of a reconciler, without manager or queue, reading live. Gives its result; raises what it raises."""
        self._run(self._install(*controller.kinds))
        return self._run(reconcile_once(controller, request, world=self.world, client=self._client))

    def start(self, *what: Controller[Any] | App, through: Callable[[Transport], Transport] | None = None) -> None:
        """Runs controllers and apps in a manager of their own, until `stop` or the end of the test.

        `through` wraps the way to the server, for faults: see `setpoint.api.Transport`.
        """
        transport = self._transport()
        self._run(self._start(what, transport if through is None else through(transport)))

    def stop(self) -> None:
        """Ends the controllers that were started, gracefully, as a process does. What is started next remembers nothing."""
        managers, self._managers = self._managers, {}
        with ExitStack() as ending:
            ending.callback(self._failed.clear)
            for manager, running in reversed(managers.items()):
                ending.callback(self._end, manager, running)

    def _end(self, manager: Manager, running: asyncio.Task[None]) -> None:
        manager.stop()
        self._run(running)

    def advance(self, by: timedelta, /) -> None:
        """Lets exactly that much simulated time pass, whatever goes on meanwhile."""
        self._run(self._sleep(by.total_seconds()))

    def settle(self, advance: timedelta = timedelta(), /, *, failing: bool = False) -> None:
        """Lets time pass: at least `advance`, and then until a simulated minute has gone by without a write.

        Raises `NotSettled` if a day goes by without such a minute, or if one object is written a thousand times in a minute: something
        writes again and again. So it does if the last run of some key failed, and will be tried again: that is no end state, unless
        `failing` says that it is expected. What ends a manager with an exception is raised here, and what a task raised that nobody awaits.
        """
        self._run(self._settle(advance.total_seconds()))
        self._loop.raise_unseen()
        if self._failed and not failing:
            failures = "; ".join(f"{run}: {error}" for run, error in self._failed.items())
            raise NotSettled(f"these runs have failed, and are tried again: {failures}. (Where that is expected: settle(failing=True))")

    def why(self, obj: Object, /) -> str:
        """Why the controllers that are running ran for this object, or because of it, and what that changed: for a failing test to show."""
        return self._run(self._told(obj))

    @property
    def faults(self) -> Faults:
        """What is to go wrong between the server and the controllers that are started: `cluster.faults.add(Drop(), verb="create")`."""
        return self._plane.faults

    @property
    def writes(self) -> builtins.list[str]:
        """Every write that changed something, by anybody, in order, such as `create deployments.apps default/shop by webapp`."""
        return list(self._writes)

    @property
    def now(self) -> datetime:
        """The simulated wall time, in UTC."""
        return self.world.clock.now()

    # within

    async def _told(self, obj: Object) -> str:
        info, told = kind_of(type(obj)), []
        for manager in self._managers:
            with suppress(NothingKnown):
                told += [in_words(history) for history in histories(manager, info.kind, obj.key)]
        return "\n\n".join(told) or f"{info.kind} {obj.key} has triggered no run of a controller that is running"

    def _transport(self) -> Transport:
        return self._plane.transport(latency=self._under_way)

    def _under_way(self, operation: Operation) -> float:
        return self._latency.uniform(0.0005, 0.005)

    def _run(self, work: Coroutine[Any, Any, T] | asyncio.Task[T]) -> T:
        task = asyncio.ensure_future(work, loop=self._loop)
        try:
            result: T = self._loop.run_until_complete(task)
        except BaseException:
            if not task.done():  # something else has failed, such as a task of a reconciler that nobody awaits
                task.cancel()
                self._loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
            raise
        return result

    async def _prepared(self, what: Any, work: Coroutine[Any, Any, T]) -> T:
        kind = what if isinstance(what, type) else type(what)
        try:
            if issubclass(kind, Object) and kind is not Untyped:
                await self._install(kind)
        except BaseException:
            work.close()
            raise
        return await work

    async def _install(self, *kinds: type[Object]) -> None:
        new = [kind for kind in kinds if kind not in self._installed]
        self._installed.update(dict.fromkeys(new))
        await install(self._client, new)

    async def _start(self, what: tuple[Controller[Any] | App, ...], transport: Transport) -> None:
        manager = Manager(Connection(transport, self.world, user_agent="setpoint"), options=Options())
        began = asyncio.get_running_loop().create_future()

        async def life() -> None:
            async with _all_of(what, manager):
                await self._install(*manager.kinds)
                began.set_result(None)
                await manager.run()

        running = asyncio.create_task(life(), name="manager")
        await asyncio.wait([began, running], return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            running.result()
        self._managers[manager] = running

    async def _settle(self, advance: float) -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        self._last_write = max(self._last_write, began)
        if advance:
            await self._sleep(advance)
        while (left := max(self._last_write, began) + QUIET - loop.time()) > 0 or not self._is_idle():
            await self._sleep(max(left, 1.0))
            if loop.time() - began - advance > PATIENCE:
                raise NotSettled(self._why(f"after {PATIENCE / 3600:.0f} simulated hours it still goes on"))

    async def _sleep(self, seconds: float) -> None:
        sleeping = asyncio.ensure_future(asyncio.sleep(seconds))
        hot = asyncio.ensure_future(self._hot.noticed.wait())
        try:
            await asyncio.wait([sleeping, hot, *self._managers.values()], return_when=asyncio.FIRST_COMPLETED)
            if hot.done():
                raise NotSettled(self._why(f"one object was written {HOT} times in a simulated minute"))
            for manager, running in list(self._managers.items()):
                if running.done():
                    del self._managers[manager]  # it is told of once
                    running.result()
        finally:
            sleeping.cancel()
            hot.cancel()

    def _why(self, what: str) -> str:
        waiting = [problem for manager in self._managers for problem in manager.problems]
        if waiting:
            return f"{what}: controllers have not started: {'; '.join(waiting)}"
        recent = "\n  ".join(self._writes[-10:])
        recorders = [manager.flight_recorder for manager in self._managers if manager.flight_recorder is not None]
        circles = "".join(f"\n{loop.controller} {loop.request}: {loop.text}" for each in recorders for loop in each.loops.found)
        return f"{what}; the last writes:\n  {recent}{circles}"

    def _is_idle(self) -> bool:
        return self._plane.is_idle and all(manager.is_idle for manager in self._managers)

    def _hear(self, event: Event) -> None:
        if isinstance(event, RunEnded):
            if event.result == "error" and not event.terminal:
                self._failed[event.run] = event.error
            else:
                self._failed.pop(event.run, None)
        if isinstance(event, Served) and event.revision != self._revision:
            self._revision = event.revision
            self._last_write = self._loop.time()
            self._writes.append(f"{event.operation} by {_who(event.operation)}")
            self._hot.written(event.operation, self._last_write)


class _Hot:
    """Notices that one object is written again and again."""

    def __init__(self) -> None:
        self.noticed = asyncio.Event()
        self._minute = 0.0
        self._writes: dict[tuple[object, str, str], int] = {}

    def written(self, operation: Operation, at: float) -> None:
        if not operation.name:
            return  # each create is another object
        if at >= self._minute + 60.0:
            self._minute = at
            self._writes.clear()
            self.noticed.clear()
        place = operation.resource, operation.namespace, operation.name
        self._writes[place] = self._writes.get(place, 0) + 1
        if self._writes[place] >= HOT:
            self.noticed.set()


@asynccontextmanager
async def _all_of(what: tuple[Controller[Any] | App, ...], manager: Manager) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        for one in what:
            if isinstance(one, Controller):
                manager.add(one)
            else:
                await stack.enter_async_context(_opened(one, manager))
        yield


def _opened(app: App, manager: Manager) -> AbstractAsyncContextManager[None]:
    """Calls an app. Raises `TypeError`, which says what is taken, for anything else: a reconciler or a kind, say."""
    mistake = f"start takes controllers, and apps (functions of a Manager that give an async context manager), not {app!r}"
    try:
        inspect.signature(app).bind(manager)
    except (TypeError, ValueError) as error:
        raise TypeError(mistake) from error
    opened = app(manager)
    if not isinstance(opened, AbstractAsyncContextManager):
        raise TypeError(mistake)
    return opened


def _who(operation: Operation) -> str:
    return operation.options.get("fieldManager") or operation.user_agent.partition("/")[0] or "unknown"
