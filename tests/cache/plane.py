"""A manager on the embedded control plane, in simulated time, behind a transport that remembers what was asked."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from setpoint.api import Operation, Outcome, Transport
from setpoint.client import Client, Connection
from setpoint.cluster import ControlPlane
from setpoint.k8s.core.v1 import ConfigMap, Namespace, Secret
from setpoint.manager import Manager, Options
from setpoint.objects import ObjectMeta
from setpoint.world import World, simulate

T = TypeVar("T")


class Line:
    """The transport to the server, with all that the manager asked."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self.asked: list[Operation] = []

    async def send(self, operation: Operation, /) -> Outcome:
        self.asked.append(operation)
        return await self._inner.send(operation)

    async def close(self) -> None:
        await self._inner.close()

    def of(self, plural: str, *verbs: str) -> list[Operation]:
        return [o for o in self.asked if o.resource is not None and o.resource.resource == plural and (not verbs or o.verb in verbs)]


class Plane:
    """`manager` is the one under test, not started; `other` is somebody else's client."""

    def __init__(self, world: World, plane: ControlPlane, options: Options) -> None:
        self.world = world
        self.line = Line(plane.transport())
        self.manager = Manager(Connection(self.line, world), options=options)
        self.other = Client(Connection(plane.transport(), world), field_manager="somebody-else")
        self._running: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._running = asyncio.ensure_future(self.manager.run())
        await asyncio.sleep(5)

    async def stop(self) -> None:
        if self._running is not None:
            self.manager.stop()
            await self._running

    async def namespaces(self, *names: str, **labels: str) -> None:
        for name in names:
            await self.other.create(Namespace(metadata=ObjectMeta(name=name, labels=labels)))


def on_plane(main: Callable[[Plane], Awaitable[T]], *, seed: int = 0, **options: Any) -> T:
    """Runs `main` with a plane; its manager is ended after it."""

    async def body(world: World) -> T:
        async with ControlPlane(world, controllers=False) as control:
            plane = Plane(world, control, Options(**options))
            try:
                return await main(plane)
            finally:
                await plane.stop()

    return simulate(body, seed=seed)


def config_map(name: str, namespace: str = "default", data: dict[str, str] | None = None, **metadata: Any) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace=namespace, **metadata), data=data or {})


def secret(name: str, namespace: str = "default", **data: str) -> Secret:
    return Secret(metadata=ObjectMeta(name=name, namespace=namespace), string_data=data)
