"""The embedded control plane behind HTTPS, on a thread and loop of its own, so that nothing the caller does can freeze it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from os import PathLike

from setpoint.cluster.control_plane import ControlPlane
from setpoint.cluster.server.serving import Address, serve
from setpoint.cluster.server.storage import data_folder
from setpoint.world import real_world
from setpoint.world.loop_thread import LoopThread


@contextmanager
def hosted(port: int = 0, *, controllers: bool = True, data: str | PathLike[str] | None = None) -> Iterator[Address]:
    """Serves on the loopback interface while the context is open, in real time. Port 0 lets the system choose.

    `data` is the folder in which everything is kept; None keeps it in memory. Raises `PortInUse` and `DataFault`.
    """
    with LoopThread("setpoint-server") as thread, thread.hold(lambda: _plane(port, controllers, data)) as address:
        yield address


@asynccontextmanager
async def _plane(port: int, controllers: bool, data: str | PathLike[str] | None) -> AsyncIterator[Address]:
    world = real_world()
    async with AsyncExitStack() as stack:
        storage = await stack.enter_async_context(data_folder(world, data)) if data is not None else None
        plane = await stack.enter_async_context(ControlPlane(world, controllers=controllers, storage=storage))
        yield await stack.enter_async_context(serve(plane.server, world, port=port))
