"""A websocket as a `Duplex`, and what a server says that does not want one."""

from __future__ import annotations

import aiohttp

from setpoint.api import Answer, StreamBroken

HEARTBEAT = 30.0
"""Seconds after which the other side is asked whether it is still there; half of that later a silent one is given up."""


class Refused(Exception):
    """The server answered a request for a websocket otherwise. Carries its answer past the HTTP client, which would drop it."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer)
        self.answer = answer


class WebSocket:
    """A websocket over HTTP."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse[bool], open_ones: dict[int, WebSocket]) -> None:
        self._socket = socket
        self._open = open_ones
        self._closed = False
        open_ones[id(self)] = self

    @property
    def protocol(self) -> str:
        """What was agreed on."""
        return self._socket.protocol or ""

    async def send(self, message: bytes, /) -> None:
        """Sends one message. Raises `StreamBroken`."""
        try:
            await self._socket.send_bytes(message)
        except (aiohttp.ClientError, OSError) as error:
            raise StreamBroken(f"the connection broke off: {error}") from error

    async def receive(self) -> bytes | None:
        """The next message, None after a close frame. Raises `StreamBroken` where there was none."""
        message = await self._socket.receive()
        match message.type:
            case aiohttp.WSMsgType.BINARY:
                return bytes(message.data)
            case aiohttp.WSMsgType.TEXT:
                return str(message.data).encode()
            case aiohttp.WSMsgType.CLOSE if message.data in (1000, 1005, 0, None):
                return None
            case aiohttp.WSMsgType.CLOSE:
                raise StreamBroken(f"the server ended the connection: {message.extra or message.data}")
            case _ if self._closed:
                return None
            case _:
                reason = self._socket.exception()
                raise StreamBroken(f"the connection broke off: {reason or 'the server has gone without taking its leave'}")

    async def close(self) -> None:
        """Ends the connection."""
        if self._closed:
            return
        self._closed = True
        self._open.pop(id(self), None)
        await self._socket.close()
