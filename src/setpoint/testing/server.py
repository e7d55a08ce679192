"""`Server`: an API server behind HTTPS for tests in real time, with a kubeconfig, for kubectl and any other client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from setpoint.client import Client, Connection
from setpoint.client.config import load_config
from setpoint.client.http import HttpTransport
from setpoint.cluster.hosted import hosted
from setpoint.cluster.server.http.kubeconfig import write_kubeconfig
from setpoint.k8s.core.v1 import Namespace
from setpoint.objects import ObjectMeta
from setpoint.world import real_world


class Server:
    """Where an API server is. What a test leaves there, the next one finds: give each its own `namespace`.

    `kubeconfig` is a file for `KUBECONFIG` or `--kubeconfig`; `url` is the server's.
    """

    def __init__(self, kubeconfig: Path) -> None:
        self.kubeconfig: Path = kubeconfig
        self.url: str = load_config(str(kubeconfig)).server

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Client]:
        """A client over HTTP, closed at the end."""
        world = real_world()
        connection = Connection(HttpTransport(load_config(str(self.kubeconfig)), world), world, user_agent="setpoint-test")
        try:
            yield Client(connection)
        finally:
            await connection.close()
            await world.threads.close()

    @contextmanager
    def namespace(self) -> Iterator[str]:
        """A namespace that nobody else has; it is deleted at the end, with what is in it."""
        name = f"test-{real_world().chance.token('bcdfghjklmnpqrstvwxz2456789', 8)}"
        asyncio.run(self._create(name))
        try:
            yield name
        finally:
            asyncio.run(self._delete(name))

    async def _create(self, name: str) -> None:
        async with self.connect() as client:
            await client.create(Namespace(metadata=ObjectMeta(name=name)))

    async def _delete(self, name: str) -> None:
        async with self.connect() as client:
            await client.delete(Namespace, name)


@contextmanager
def embedded_server(folder: Path) -> Iterator[Server]:
    """An embedded control plane with its controllers, served while the context is open; its kubeconfig goes into `folder`."""
    with hosted() as address:
        yield Server(write_kubeconfig(folder / "kubeconfig", address.url, address.ca_pem, address.token))
