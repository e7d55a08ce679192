"""`ControlPlane`: an API server and its controllers, in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING

from setpoint.api import ADMIN, Answer, Identity, Operation, ServedStream
from setpoint.cluster.faults import Faults, ShiftedClock
from setpoint.cluster.population import Population
from setpoint.cluster.server import ApiServer, Storage
from setpoint.world import World

if TYPE_CHECKING:  # an API server alone has neither controllers nor clients, and need not wait for their import
    from setpoint.client import InProcessTransport
    from setpoint.manager import Manager

CONTROLLERS = Identity(user="system:kube-controller-manager", groups=("system:masters", "system:authenticated"))


class ControlPlane(AbstractAsyncContextManager["ControlPlane"]):
    """An embedded cluster, alive while the context is open. With `controllers=False` it is the API server alone, as in envtest.

    With `workloads=False`, garbage is collected and namespaces are emptied, but Deployments make no pods. `storage` is where everything is
    kept, in memory unless given; whoever opens one (see `data_folder`) closes it when this context is left.

    `faults` are what is to go wrong; its own controllers are spared.

    `root_ca` is the certificate, as PEM, of the authority that clients are to trust. With it each namespace gets the ConfigMap
    `kube-root-ca.crt` and the ServiceAccount `default`; within one process nobody needs them.
    """

    def __init__(
        self, world: World, *, controllers: bool = True, workloads: bool = True, storage: Storage | None = None, root_ca: str = ""
    ) -> None:
        self.world = world
        clock = ShiftedClock(world.clock)
        self.server: ApiServer = ApiServer(replace(world, clock=clock), storage=storage)
        self.faults: Faults = Faults(self.server, clock)
        self._controllers = controllers
        self._workloads = workloads
        self._root_ca = root_ca
        self._manager: Manager | None = None
        self._running: asyncio.Task[None] | None = None

    def transport(self, identity: Identity = ADMIN, *, latency: Callable[[Operation], float] | None = None) -> InProcessTransport:
        """A way to the server within the process, for a client that is known as `identity`."""
        from setpoint.client import InProcessTransport

        return InProcessTransport(self.handle, identity, latency)

    def handle(self, operation: Operation, identity: Identity = ADMIN) -> Awaitable[Answer | ServedStream]:
        """What comes of an operation, with the faults that there are: see `ApiServer.handle`."""
        return self.faults.handle(operation, identity) if len(self.faults) else self.server.handle(operation, identity)

    async def __aenter__(self) -> ControlPlane:
        if self._controllers:
            from setpoint.client import Connection, InProcessTransport
            from setpoint.manager import Manager, Options

            transport = InProcessTransport(self.server.handle, CONTROLLERS)
            # What the server warns of is not for those who run it: its controllers read every kind there is, deprecated ones as well.
            connection = Connection(transport, self.world, user_agent="kube-controller-manager", say_warnings=False)
            # Nobody asks it why: its controllers are the cluster, and simulations need not pay for answers.
            self._manager = Manager(connection, options=Options(flight_recorder=False))
            self._running = asyncio.create_task(self._run(self._manager), name="control-plane")
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._manager is not None and self._running is not None:
            self._manager.stop()
            await self._running
        self.server.stop()

    @property
    def is_idle(self) -> bool:
        """Whether its own controllers have nothing to do but wait for a change or a timer."""
        return self._manager is None or self._manager.is_idle

    async def _run(self, manager: Manager) -> None:
        from setpoint.cluster.controllers import control_plane_controllers

        population = Population(self.server)
        try:
            async with control_plane_controllers(manager, workloads=self._workloads, root_ca=self._root_ca, has_objects=population.has):
                await manager.run()
        finally:
            population.close()
