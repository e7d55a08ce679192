"""The embedded control plane behind HTTPS, on a thread and loop of its own, so that nothing the caller does can freeze it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from os import PathLike
from pathlib import Path

from setpoint.api import ADMIN, Identity
from setpoint.cluster.control_plane import ControlPlane
from setpoint.cluster.faults import Rule, Setting, SlowDisk
from setpoint.cluster.server.http.access import access_in, keep
from setpoint.cluster.server.http.asgi import Log
from setpoint.cluster.server.http.serving import Address, serve
from setpoint.cluster.server.http.tls import LOOPBACK, make_certificates
from setpoint.cluster.server.storage import MemoryStorage, Storage, data_folder
from setpoint.world import real_world
from setpoint.world.loop_thread import LoopThread


@contextmanager
def hosted(
    port: int = 0,
    *,
    host: str = "127.0.0.1",
    controllers: bool = True,
    data: str | PathLike[str] | None = None,
    tokens: Mapping[str, Identity] | None = None,
    anonymous: bool = False,
    faults: Iterable[Rule | Setting] = (),
    log: Log | None = None,
) -> Iterator[Address]:
    """Serves on the loopback interface while the context is open, in real time. Port 0 lets the system choose.

    `data` is the folder in which everything is kept, the administrator's token, the certificates and the port too (see `access`); None
    keeps it in memory. `tokens` are accepted besides the administrator's; `anonymous` lets in who sends none. `faults` are what goes wrong
    from the start, and `log` is told of each request, in the server's thread. Raises `PortInUse`, `DataFault`, and `ValueError` for a host
    that is not the loopback interface.
    """
    how = _Hosting(port, host, controllers, data, tokens or {}, anonymous, tuple(faults), log)
    with LoopThread("setpoint-server") as thread, thread.hold(lambda: _plane(how)) as address:
        yield address


@dataclass(frozen=True)
class _Hosting:
    port: int
    host: str
    controllers: bool
    data: str | PathLike[str] | None
    tokens: Mapping[str, Identity]
    anonymous: bool
    faults: tuple[Rule | Setting, ...]
    log: Log | None


@asynccontextmanager
async def _plane(how: _Hosting) -> AsyncIterator[Address]:
    world = real_world()
    settings = [fault for fault in how.faults if isinstance(fault, Setting)]
    disk = sum(setting.disk for setting in settings)
    async with AsyncExitStack() as stack:
        storage: Storage | None = None
        if how.data is not None:
            storage = await stack.enter_async_context(data_folder(world, how.data))
        if disk:
            storage = SlowDisk(storage or MemoryStorage(), disk)
        hosts = tuple(dict.fromkeys((*LOOPBACK, how.host)))
        folder = Path(how.data) if how.data is not None else None
        kept = access_in(world, folder, hosts) if folder is not None else None
        certificates = kept.certificates() if kept is not None else make_certificates(world, hosts)
        root_ca = certificates.ca.decode()
        plane = await stack.enter_async_context(ControlPlane(world, controllers=how.controllers, storage=storage, root_ca=root_ca))
        plane.faults.clock.offset = sum((setting.clock for setting in settings), timedelta())
        for fault in how.faults:
            if isinstance(fault, Rule):
                plane.faults.add(fault)
        tokens = {kept.token if kept is not None else world.chance.secret(): ADMIN, **how.tokens}

        def serving(port: int) -> AbstractAsyncContextManager[Address]:
            return serve(
                plane.server,
                world,
                host=how.host,
                port=port,
                tokens=tokens,
                anonymous=how.anonymous,
                handle=plane.handle,
                log=how.log,
                certificates=certificates,
            )

        try:
            address = await stack.enter_async_context(serving(how.port or (kept.port if kept is not None else 0)))
        except OSError:
            if how.port or kept is None or not kept.port:
                raise
            address = await stack.enter_async_context(serving(0))  # what was its port has been taken by another
        if folder is not None and kept is not None:
            keep(folder, kept, address.port)
        yield address
