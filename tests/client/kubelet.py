"""What a kubelet does with websockets, on a port of this machine: programs that are Python functions, and ports that answer."""

from __future__ import annotations

import json
import struct
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from aiohttp import WSMsgType, web

Program: TypeAlias = Callable[["Shell"], Awaitable[dict[str, Any] | None]]
SUCCESS = {"metadata": {}, "status": "Success"}


def exited(code: int) -> dict[str, Any]:
    return {
        "metadata": {},
        "status": "Failure",
        "message": f"command terminated with non-zero exit code: exit status {code}",
        "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]},
    }


class Shell:
    """One program's side of the connection."""

    def __init__(self, socket: web.WebSocketResponse, request: web.Request) -> None:
        self.socket = socket
        self.query = request.query
        self.command = request.query.getall("command", [])
        self.sizes: list[dict[str, int]] = []

    async def say(self, channel: int, data: bytes) -> None:
        await self.socket.send_bytes(bytes((channel,)) + data)

    async def input(self) -> bytes | None:
        """The next piece of input; None at its end, and where the other side has gone."""
        async for message in self.socket:
            assert message.type is WSMsgType.BINARY
            channel, data = message.data[0], message.data[1:]
            if channel == 0:
                return data
            if channel == 4:
                self.sizes.append(json.loads(data))
            if channel == 255:
                assert data == b"\0"
                return None
        return None


class Kubelet:
    """Takes websockets as a kubelet does: `protocols` are those that it knows, `program` is what every command runs."""

    def __init__(self, program: Program | None = None, protocols: tuple[str, ...] = ("v5.channel.k8s.io", "v4.channel.k8s.io")) -> None:
        self.program = program
        self.protocols = protocols
        self.requests: list[web.Request] = []
        self.refusal: web.Response | None = None
        self.leaves = True
        self.port: Callable[[bytes], bytes] = bytes.upper
        self.port_error = b""

    async def __aenter__(self) -> Kubelet:
        app = web.Application()
        pods = "/api/v1/namespaces/{namespace}/pods/{name}"
        app.router.add_get(f"{pods}/exec", self._run)
        app.router.add_get(f"{pods}/attach", self._run)
        app.router.add_get(f"{pods}/portforward", self._forward)
        self._runner = web.AppRunner(app, handle_signals=False, shutdown_timeout=1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _accepted(self, request: web.Request) -> web.WebSocketResponse:
        self.requests.append(request)
        offered = [name.strip() for name in request.headers.get("Sec-WebSocket-Protocol", "").split(",")]
        # The first of what the client offers, as Go's servers choose; aiohttp's own choice is the server's.
        chosen = next(name for name in offered if name in self.protocols)
        socket = web.WebSocketResponse(protocols=(chosen,))
        await socket.prepare(request)
        return socket

    async def _run(self, request: web.Request) -> web.StreamResponse:
        if self.refusal is not None:
            return self.refusal
        socket = await self._accepted(request)
        for channel in (0, 1, 2, 3):
            await socket.send_bytes(bytes((channel,)))  # a kubelet begins each channel with an empty message
        assert self.program is not None
        status = await self.program(Shell(socket, request))
        if status is not None:
            await socket.send_bytes(b"\3" + json.dumps(status).encode())
        if self.leaves:
            await socket.close()
        elif status is not None:
            async for _ in socket:
                pass
        else:
            assert request.transport is not None
            request.transport.abort()
        return socket

    async def _forward(self, request: web.Request) -> web.StreamResponse:
        socket = await self._accepted(request)
        number = struct.pack("<H", int(request.query["ports"]))
        await socket.send_bytes(b"\0" + number)
        await socket.send_bytes(b"\1" + number)
        if self.port_error:
            await socket.send_bytes(b"\1" + self.port_error)
        async for message in socket:
            assert message.data[0] == 0
            await socket.send_bytes(b"\0" + self.port(message.data[1:]))
            if message.data[1:] == b"quit":
                break
        await socket.close()
        return socket


async def waits(shell: Shell) -> None:
    """A program that does nothing until it is left."""
    await shell.input()
