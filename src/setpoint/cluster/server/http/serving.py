"""Listening: an `ApiServer` behind HTTPS on a port of the loopback interface, with uvicorn.

https://uvicorn.dev/
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

import uvicorn

from setpoint.api import ADMIN, Identity
from setpoint.cluster.server.http.asgi import Handle, HttpFace, Log
from setpoint.cluster.server.http.protocol import Protocol
from setpoint.cluster.server.http.tls import LOOPBACK, Certificates, make_certificates
from setpoint.cluster.server.server import ApiServer
from setpoint.world import World

KEEP_ALIVE = 180
"""Seconds that an idle connection is kept; longer than clients keep theirs, so that it is they who close it."""
PATIENCE = 0.5
"""Seconds at the end that connections get to close by themselves."""


@dataclass(frozen=True)
class Address:
    """Where the server is, and what a client needs to talk to it: the authority to trust, and the token to send."""

    host: str
    port: int
    ca_pem: bytes
    token: str

    @property
    def url(self) -> str:
        """`https://127.0.0.1:6443`."""
        return f"https://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"


@asynccontextmanager
async def serve(
    server: ApiServer,
    world: World,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    tokens: Mapping[str, Identity] | None = None,
    anonymous: bool = False,
    handle: Handle | None = None,
    log: Log | None = None,
    certificates: Certificates | None = None,
) -> AsyncIterator[Address]:
    """Serves while the context is open; requests are answered from the moment it is entered. Port 0 lets the system choose.

    `tokens` are the bearer tokens that are accepted, with whom they stand for; None makes one for the administrator. The address has the
    first of them. `anonymous` lets in who sends none; `handle` and `log` are those of `HttpFace`, and
    `certificates` are made unless given.

    Runs in the running loop, touches no signal handler, and ends its watches and connections at the end.

    Raises `PortInUse`, or `ValueError` for a host that is not the loopback interface: this server is not made to be reached from outside.
    """
    if not is_loopback(host):
        raise ValueError(f"the embedded API server listens on the loopback interface alone (127.0.0.1), not on {host}")
    if tokens is None:
        tokens = {world.chance.secret(): ADMIN}
    listening = world.sockets.listen(host, port)
    try:
        certificates = certificates or make_certificates(world, tuple(dict.fromkeys((*LOOPBACK, host))))
        face = HttpFace(server, tokens, anonymous=anonymous, handle=handle, log=log)
        config = uvicorn.Config(
            face,
            http=Protocol,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=KEEP_ALIVE,
            backlog=1024,
        )
        config.load()
        config.ssl = certificates.server_context()
        http = _Uvicorn(config, face)
    except BaseException:
        listening.close()
        raise
    running = asyncio.create_task(http.serve(sockets=[listening]), name="http-server")
    try:
        await _first(running, http.listening)
        yield Address(host, listening.getsockname()[1], certificates.ca, next(iter(tokens), ""))
    finally:
        http.should_exit = True
        try:
            await running
        finally:
            listening.close()


class _Uvicorn(uvicorn.Server):
    """uvicorn as a guest: it takes no signals, says when it listens, and lets nobody hold it up at the end."""

    def __init__(self, config: uvicorn.Config, face: HttpFace) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()
        self._face = face

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are the program's own."""
        yield

    async def startup(self, sockets: list[Any] | None = None) -> None:
        """See uvicorn."""
        await super().startup(sockets)
        self.listening.set()

    async def shutdown(self, sockets: list[Any] | None = None) -> None:
        """Ends the watches first, and cuts at last what does not close by itself."""
        cut = asyncio.get_running_loop().call_later(PATIENCE, self._cut)
        try:
            await self._face.end_watches()
            await super().shutdown(sockets)
        finally:
            cut.cancel()

    def _cut(self) -> None:
        for connection in list(self.server_state.connections):
            connection.transport.abort()


async def _first(running: asyncio.Task[None], listening: asyncio.Event) -> None:
    """Waits until the server listens. Raises what kept it from that."""
    waiting = asyncio.create_task(listening.wait())
    try:
        await asyncio.wait((running, waiting), return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
    if running.done():
        running.result()


def is_loopback(host: str) -> bool:
    """Whether a name or address is that of the loopback interface."""
    try:
        return host in LOOPBACK or ip_address(host).is_loopback
    except ValueError:
        return False
