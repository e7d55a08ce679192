"""The embedded control plane behind HTTPS, on a thread and loop of its own, so that nothing the caller does can freeze it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from setpoint.cluster.control_plane import ControlPlane
from setpoint.cluster.server.serving import Address, serve
from setpoint.world import real_world
from setpoint.world.loop_thread import LoopThread


@contextmanager
def hosted(port: int = 0, *, controllers: bool = True) -> Iterator[Address]:
    """Serves on the loopback interface while the context is open, in real time. Port 0 lets the system choose. Raises `PortInUse`."""
    with LoopThread("setpoint-server") as thread, thread.hold(lambda: _plane(port, controllers)) as address:
        yield address


@asynccontextmanager
async def _plane(port: int, controllers: bool) -> AsyncIterator[Address]:
    world = real_world()
    async with ControlPlane(world, controllers=controllers) as plane, serve(plane.server, world, port=port) as address:
        yield address
