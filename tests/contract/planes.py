"""The servers that one test runs on: the embedded one in this process, the same over HTTPS, and a real kube-apiserver."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

from setpoint.client import Config, HttpTransport, load_config
from setpoint.cluster import ControlPlane
from setpoint.cluster.server.http.serving import serve
from setpoint.objects import Object
from setpoint.world import World, real_world, simulate

from .site import Line, Plane, Site

Test: TypeAlias = Callable[[Site], Coroutine[Any, Any, None]]
EMBEDDED, HTTPS, REAL = "embedded", "https", "real"


def embedded(kinds: Iterable[type[Object]], *, controllers: bool = False) -> Plane:
    """The embedded server in this process, in simulated time."""

    async def inside(world: World, test: Test) -> None:
        async with ControlPlane(world, controllers=controllers, workloads=False) as plane:
            await _run(Site(EMBEDDED, world, Line(plane.transport()), "sandbox", plane.server), kinds, test)

    def run(test: Test) -> None:
        simulate(lambda world: inside(world, test))

    return Plane(EMBEDDED, run)


def https(kinds: Iterable[type[Object]], *, controllers: bool = False) -> Plane:
    """The embedded server on a port of this machine, in real time."""

    async def inside(test: Test) -> None:
        world = real_world()
        async with (
            ControlPlane(world, controllers=controllers, workloads=False) as plane,
            serve(plane.server, world) as address,
        ):
            config = Config(server=address.url, ca_data=address.ca_pem, token=address.token)
            await _run(Site(HTTPS, world, Line(HttpTransport(config, world)), "sandbox", plane.server), kinds, test)

    return Plane(HTTPS, lambda test: asyncio.run(inside(test)))


def real(kubeconfig: Path, kinds: Iterable[type[Object]], namespaces: Iterator[int]) -> Plane:
    """A real server, which many tests share: each has a namespace of its own."""

    async def inside(test: Test) -> None:
        world = real_world()
        transport = HttpTransport(load_config(str(kubeconfig)), world)
        await _run(Site(REAL, world, Line(transport), f"sandbox-{next(namespaces)}", None), kinds, test)

    return Plane(REAL, lambda test: asyncio.run(inside(test)), real=True)


def numbers() -> Iterator[int]:
    """Numbers for namespaces, each once."""
    return itertools.count(1)


async def _run(site: Site, kinds: Iterable[type[Object]], test: Test) -> None:
    async with _closing(site):
        await site.prepare(kinds)
        await test(site)


@asynccontextmanager
async def _closing(site: Site) -> AsyncIterator[None]:
    try:
        yield
    finally:
        await site.connection.close()
