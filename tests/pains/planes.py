"""The two clusters that tests run on: the embedded one in simulated time, and a real kube-apiserver in real time, by the same calls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from setpoint import Client, Manager, Object, ObjectMeta
from setpoint.api import Transport
from setpoint.client import Connection, HttpTransport, RequestDone, RequestSent, load_config
from setpoint.client.install import install
from setpoint.controller import RunEnded, RunStarted
from setpoint.controller.events import QueueAdded, TimerSet
from setpoint.k8s.core.v1 import Namespace
from setpoint.manager import Options
from setpoint.testing import Cluster
from setpoint.world import Event, real_world
from setpoint.world.loop import SimulatedLoop

from .scenes import Scene

PACE = 0.08
"""On a real server, a second that a test lets pass takes so many."""
QUIET, PATIENCE = 0.15, 20.0
"""Real seconds: without any event it is settled, and after so many of them it never will be."""


class Embedded(Scene, Cluster):
    """A cluster in this process, in simulated time."""

    namespace = "default"
    real = False

    def __init__(self) -> None:
        Cluster.__init__(self)
        self.listen()

    @property
    def simulated_loop(self) -> SimulatedLoop:
        """In which processes can be paused."""
        return self._loop

    def way(self) -> Transport:
        return self._transport()

    def close(self) -> None:
        if not self._loop.is_closed():
            self.end(*self.hosted)
        Cluster.close(self)


class Real(Scene):
    """A namespace on a real API server, with the calls of `Cluster`. Seconds are shorter here: see `PACE`."""

    real = True

    def __init__(self, kubeconfig: Path, namespace: str) -> None:
        self.namespace = namespace
        self.world = real_world()
        self._loop = asyncio.new_event_loop()
        self._config = load_config(str(kubeconfig))
        self._connections: list[Connection] = []
        self._running: dict[Manager, asyncio.Task[None]] = {}
        self._client = Client(self._connect(lambda inner: inner), field_manager="setpoint-test", namespace=namespace)
        self._last = self._loop.time()
        self.listen()
        self.world.observer.subscribe(self._hear)
        self._run(self._client.create(Namespace(metadata=ObjectMeta(name=namespace))))

    def way(self) -> Transport:
        return HttpTransport(self._config, self.world)

    def close(self) -> None:
        """Ends everything in it."""
        self.end(*self.hosted)
        self.stop()
        for connection in self._connections:
            self._run(connection.close())
        self._run(self._loop.shutdown_asyncgens())
        self._loop.close()

    def create(self, obj: Any, /) -> Any:
        self._install(type(obj))
        return self._run(self._client.create(obj))

    def apply(self, obj: Any, /) -> Any:
        self._install(type(obj))
        return self._run(self._client.apply(obj))

    def get(self, kind: type[Any], key: Any, /) -> Any:
        return self._run(self._client.get(kind, key))

    def list(self, kind: type[Any], /, *, namespace: str | None = None, labels: Any = None) -> Any:
        return self._run(self._client.list(kind, namespace=namespace or self.namespace, labels=labels))

    def update(self, obj: Any, /) -> Any:
        return self._run(self._client.update(obj))

    def update_status(self, obj: Any, /) -> Any:
        return self._run(self._client.update_status(obj))

    def refresh(self, obj: Any, /) -> Any:
        found = self.get(type(obj), obj.key)
        if found is None:
            raise LookupError(f"{obj.key} is gone")
        return found

    def delete(self, obj: Any, /) -> None:
        self._run(self._client.delete(obj))

    def start(self, app: Any, *, through: Callable[[Transport], Transport] = lambda inner: inner) -> None:
        manager = Manager(self._connect(through), options=Options(namespace=self.namespace, grace=0.0))

        async def life() -> None:
            async with app(manager):
                await install(self._client, manager.kinds)
                await manager.run()

        self._running[manager] = self._loop.create_task(life())

    def stop(self) -> None:
        running, self._running = self._running, {}
        for manager, task in running.items():
            self.until(lambda manager=manager, task=task: manager.has_started or task.done(), "the start")
            manager.stop()
            self._run(task)

    def advance(self, by: timedelta, /) -> None:
        self._run(asyncio.sleep(by.total_seconds() * PACE))

    def settle(self, advance: timedelta = timedelta(), /) -> None:
        self.advance(min(advance, timedelta(seconds=5)))
        deadline = self._loop.time() + PATIENCE
        while self._loop.time() - self._last < QUIET or not all(manager.is_idle for manager in self._running):
            assert self._loop.time() < deadline, "it goes on and on"
            self._run(asyncio.sleep(0.02))

    def _hear(self, event: Event) -> None:
        if isinstance(event, QueueAdded | TimerSet | RunStarted | RunEnded | RequestSent | RequestDone):
            self._last = self._loop.time()

    def _connect(self, through: Callable[[Transport], Transport]) -> Connection:
        connection = Connection(through(HttpTransport(self._config, self.world)), self.world, user_agent="pains")
        self._connections.append(connection)
        return connection

    def _install(self, kind: type[Object]) -> None:
        self._run(
            install(
                self._client, [kind] if isinstance(kind, type) and issubclass(kind, Object) and kind.__module__[:8] != "setpoint" else []
            )
        )

    def _run(self, work: Any) -> Any:
        return self._loop.run_until_complete(work)


__all__ = ["Embedded", "Real"]
