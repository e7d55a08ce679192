"""A websocket as a `Duplex`, and what a server says that does not want one."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any, Literal

import aiohttp

from setpoint.api import Answer, StreamBroken

HEARTBEAT = 30.0
"""Seconds after which the other side is asked whether it is still there; half of that later a silent one is given up."""


class Refused(Exception):
    """The server answered a request for a websocket otherwise. Carries its answer past the HTTP client, which would drop it."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer)
        self.answer = answer


TIME_TO_CLOSE = 2.0
"""Seconds for the other side to take its leave; then the connection is dropped."""


class Upgraded(aiohttp.ClientWebSocketResponse[Literal[True]]):
    """The HTTP client's websocket, which can be dropped, and which does not take one that is not listened to for one that is silent."""

    def __init__(
        self, reader: Any, writer: Any, protocol: str | None, response: aiohttp.ClientResponse, *others: Any, **named: Any
    ) -> None:
        super().__init__(reader, writer, protocol, response, *others, **named)
        connection = response.connection
        self._transport: Any = None if connection is None else connection.transport

    def _pong_not_received(self) -> None:
        if self._transport is not None and not self._transport.is_reading():
            self._reset_heartbeat()  # its answer lies behind what nobody has read yet
        else:
            super()._pong_not_received()

    def drop(self) -> None:
        """Lets go of the connection at once. What was not sent yet would keep it open, for ever if the other side takes nothing."""
        if self._transport is not None:
            self._transport.abort()


class WebSocket:
    """A websocket over HTTP."""

    def __init__(self, socket: Upgraded, open_ones: dict[int, WebSocket]) -> None:
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
        try:
            # Its own bound is for the other side's leave alone: to say ours may wait for ever for somebody who takes nothing.
            with suppress(TimeoutError):
                async with asyncio.timeout(2 * TIME_TO_CLOSE):
                    await self._socket.close()
        finally:
            self._socket.drop()
