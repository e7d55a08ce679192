"""The embedded control plane as a program runs it: on a thread and loop of its own, so that nothing a controller does can freeze it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from setpoint.cli.failure import Failure
from setpoint.cluster import ControlPlane
from setpoint.cluster.server.kubeconfig import write_kubeconfig
from setpoint.cluster.server.serving import Address, serve
from setpoint.world import PortInUse, real_world
from setpoint.world.loop_thread import LoopThread

DEFAULT_KUBECONFIG = ".setpoint/kubeconfig"


@asynccontextmanager
async def _plane(port: int, controllers: bool) -> AsyncIterator[Address]:
    world = real_world()
    async with ControlPlane(world, controllers=controllers) as plane, serve(plane.server, world, port=port) as address:
        yield address


@contextmanager
def embedded(port: int, kubeconfig: str | None, *, controllers: bool = True) -> Iterator[tuple[Address, Path]]:
    """Serves while the context is open; gives the address and the kubeconfig that was written for it. Raises `Failure`."""
    with LoopThread("setpoint-server") as thread:
        try:
            held = thread.hold(lambda: _plane(port, controllers))
            address = held.__enter__()
        except PortInUse as error:
            raise Failure(f"the embedded control plane cannot listen: {error.strerror}") from error
        try:
            yield address, _write(kubeconfig or DEFAULT_KUBECONFIG, address)
        finally:
            held.__exit__(None, None, None)


def _write(path: str, address: Address) -> Path:
    try:
        return write_kubeconfig(path, address.url, address.ca_pem, address.token)
    except FileExistsError as error:
        raise Failure(str(error)) from error
    except OSError as error:
        raise Failure(f"the kubeconfig {path} cannot be written: {error.strerror}; choose another place with --write-kubeconfig") from error
