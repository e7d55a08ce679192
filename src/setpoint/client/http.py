"""A server over HTTP.

What this transport adds to the HTTP client under it is the truth about failures. A request that failed before it was sent is `NotSent`; one
that failed after is `Unknown`, and never sent again from here: the HTTP client's own habit of repeating a PUT or DELETE on a fresh
connection would do a write twice.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from setpoint.api import Answer, Connected, NotSent, Operation, Outcome, StreamBroken, Unknown
from setpoint.api.paths import to_http
from setpoint.client.config import Config, ConfigError
from setpoint.client.connection import NotYetSent
from setpoint.client.credentials import Credential, credentials_of, impersonation
from setpoint.client.dispatch import held_back
from setpoint.client.http_failure import Failed, failure_of
from setpoint.client.proxy import proxy_of
from setpoint.client.tls import Tls
from setpoint.client.websocket import HEARTBEAT, TIME_TO_CLOSE, Refused, Upgraded, WebSocket
from setpoint.world import World

CONNECT_TIMEOUT = 10.0
"""Seconds for name, connection and TLS handshake together."""
_KEEP_ALIVE = 30.0
_BUFFER = 1 << 20
_BROKEN = (aiohttp.ClientError, OSError, asyncio.IncompleteReadError, RuntimeError)
"""What reading a body raises where the connection is lost; the last, where that was so before the reading began."""
_WARNING = re.compile(r'^299 \S+ "((?:[^"\\]|\\.)*)"')


T = TypeVar("T")


class HttpTransport:
    """Carries operations to the server of a configuration.

    The connection pool belongs to the event loop that the first operation runs on. Raises `ConfigError` at once for certificates or a
    proxy that cannot be used.
    """

    def __init__(self, config: Config, world: World) -> None:
        self.config = config
        self._world = world
        secure = config.server.startswith("https://")
        self._tls = Tls(config, world.clock) if secure else None
        self._credentials = credentials_of(config, self._ca, world)
        self._impersonation = impersonation(config)
        self._server_hostname = config.tls_server_name if secure else None
        self._proxy = proxy_of(config)
        self._session: aiohttp.ClientSession | None = None
        self._streams: dict[int, HttpStream] = {}
        self._sockets: dict[int, WebSocket] = {}
        self._closed = False

    async def send(self, operation: Operation, /) -> Outcome:
        """Carries the operation to the server.

        A write whose credential had to be waited for, and anything that was answered 401 where there is another credential by now, is
        `NotYetSent`: who may not ask has done nothing.
        """
        return await self._with_credential(operation, lambda *secrets: self._sent(operation, *secrets))

    async def connect(self, operation: Operation, protocols: tuple[str, ...], /) -> Connected:
        """Asks the server for a websocket that speaks one of the protocols. Credentials are as in `send`."""
        return await self._with_credential(operation, lambda *secrets: self._connected(operation, protocols, *secrets))

    async def _with_credential(
        self, operation: Operation, carry: Callable[[Credential, ssl.SSLContext | bool], Awaitable[T]]
    ) -> T | NotSent:
        if self._closed:
            return NotSent(f"the connection to {self.config.server} is closed")
        try:
            credential = self._credentials.at_hand()
            if credential is None:
                credential = await self._credentials.waited_for(_a_little_before(operation))
                if operation.is_write:
                    return NotYetSent("its credentials had to be waited for")
            secured = self._secured(credential)
            outcome = await carry(credential, secured)
            if isinstance(outcome, Answer) and outcome.status == 401 and self._may_ask_again(credential, secured):
                return NotYetSent("the server refused its credentials, and there are others by now")
            return outcome
        except ConfigError as error:
            return NotSent(str(error))

    async def _sent(self, operation: Operation, credential: Credential, secured: ssl.SSLContext | bool) -> Outcome:
        method, target = to_http(operation)
        try:
            response = await self._pool().request(
                method,
                URL(self.config.server + target, encoded=True),
                data=operation.body or None,
                headers=self._headers(operation, credential),
                allow_redirects=False,
                proxy=self._proxy,
                ssl=secured,
                server_hostname=self._server_hostname,
                timeout=_time_to_connect(operation),
            )
        except Failed as failed:
            return failed.outcome
        except aiohttp.ClientError as error:
            return failure_of(error, self.config)
        if 300 <= response.status < 400:
            response.close()
            where = response.headers.get("Location", "elsewhere")
            return NotSent(f"{self.config.server} sends on to {where}: it is no API server, or a login page stands before it")
        if response.status < 300 and (operation.verb == "watch" or operation.subresource == "log"):
            return self._stream(response, frames=operation.verb == "watch")
        return await self._answer(response)

    async def _connected(
        self, operation: Operation, protocols: tuple[str, ...], credential: Credential, secured: ssl.SSLContext | bool
    ) -> Connected:
        _, target = to_http(operation)
        try:
            socket = await self._pool().ws_connect(
                URL(self.config.server + target, encoded=True),
                protocols=protocols,
                headers=self._headers(operation, credential),
                proxy=self._proxy,
                ssl=secured,
                server_hostname=self._server_hostname,
                max_msg_size=0,
                heartbeat=HEARTBEAT,
                timeout=aiohttp.ClientWSTimeout(ws_close=TIME_TO_CLOSE),
            )
        except Failed as failed:
            return failed.outcome
        except Refused as refused:
            return refused.answer
        except aiohttp.WSServerHandshakeError as error:
            return Unknown(f"{self.config.server} does not speak the websocket protocol as it should: {error.message}")
        except aiohttp.ClientError as error:
            return failure_of(error, self.config)
        assert isinstance(socket, Upgraded)  # the pool makes no others
        return WebSocket(socket, self._sockets)

    def another(self) -> HttpTransport:
        """Another way to the same server, with connections of its own, for another event loop."""
        return HttpTransport(self.config, self._world)

    async def close(self) -> None:
        """Ends all connections, those of open watches too."""
        self._closed = True
        await self._credentials.close()
        for stream in list(self._streams.values()):
            await stream.close()
        for socket in list(self._sockets.values()):
            await socket.close()
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _pool(self) -> aiohttp.ClientSession:
        if self._closed:  # while a credential was waited for
            raise Failed(NotSent(f"the connection to {self.config.server} is closed"))
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=_Connector(),
                cookie_jar=aiohttp.DummyCookieJar(),
                read_bufsize=_BUFFER,
                max_field_size=1 << 16,
                timeout=_TIMEOUT,
                middlewares=(self._once,),
                ws_response_class=Upgraded,
            )
        return self._session

    async def _once(self, request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
        """Makes an outcome of a failure before the HTTP client can decide to send the request again, or drop what a refusal says."""
        try:
            response = await handler(request)
        except (aiohttp.ClientError, OSError) as error:
            raise Failed(failure_of(error, self.config)) from error
        if "Upgrade" in request.headers and response.status != 101:
            outcome = await self._answer(response)
            raise Refused(outcome) if isinstance(outcome, Answer) else Failed(outcome)
        return response

    def _may_ask_again(self, used: Credential, secured: ssl.SSLContext | bool) -> bool:
        """Whether there is something better than what the server refused."""
        return self._credentials.refused(used) or self._secured(used) is not secured

    def _secured(self, credential: Credential) -> ssl.SSLContext | bool:
        return False if self._tls is None else self._tls.context(credential.pair)

    def _ca(self) -> bytes | None:
        return self.config.ca_data if self._tls is None else self._tls.ca

    def _headers(self, operation: Operation, credential: Credential) -> CIMultiDict[str]:
        headers = CIMultiDict[str]()
        headers["Accept"] = operation.accept
        # The small frames of a watch gain nothing from compression, and would wait in the compressor.
        plain = operation.verb == "watch" or operation.subresource == "log" or self.config.disable_compression
        headers["Accept-Encoding"] = "identity" if plain else "gzip"
        if operation.user_agent:
            headers["User-Agent"] = operation.user_agent
        if operation.content_type:
            headers["Content-Type"] = operation.content_type
        for name, value in operation.headers.items():
            headers[name] = value
        if credential.authorization:
            headers["Authorization"] = credential.authorization
        for name, value in self._impersonation:
            headers.add(name, value)
        return headers

    async def _answer(self, response: aiohttp.ClientResponse) -> Answer | Unknown:
        try:
            body = await response.read()
        except _BROKEN as error:
            return Unknown(f"the answer of {self.config.server} broke off: {error}")
        finally:
            response.release()
        return Answer(
            status=response.status,
            body=body,
            content_type=response.headers.get("Content-Type", ""),
            headers={name.lower(): value for name, value in response.headers.items()},
            warnings=_warnings(response.headers.getall("Warning", [])),
        )

    def _stream(self, response: aiohttp.ClientResponse, *, frames: bool) -> HttpStream:
        stream = HttpStream(response, self._streams, frames=frames)
        self._streams[id(stream)] = stream
        return stream


class HttpStream:
    """A watch over HTTP: one frame a line, of any length. Without `frames`, a log: any lines, the last of which may have no end."""

    def __init__(self, response: aiohttp.ClientResponse, open_streams: dict[int, HttpStream], *, frames: bool = True) -> None:
        self._response = response
        self._frames = frames
        self._open = open_streams
        self._begun: list[bytes] = []
        self._closed = False

    async def read(self) -> list[bytes] | None:
        """The next whole lines: all that have arrived. Raises `StreamBroken`."""
        while not self._closed:
            try:
                chunk = await self._response.content.readany()
            except _BROKEN as error:
                await self.close()
                raise StreamBroken(f"the connection broke off: {error}") from error
            if not chunk:
                return await self._rest()
            lines = chunk.split(b"\n")
            # A line that has begun is kept in parts: joining a long one again and again would cost its square.
            self._begun.append(lines[0])
            if len(lines) == 1:
                continue
            lines[0] = b"".join(self._begun)
            self._begun = [lines.pop()]
            if not self._frames:
                return lines
            lines = [line for line in lines if line.strip()]
            if lines:
                return await self._checked(lines)
        return None

    async def close(self) -> None:
        """Ends the watch."""
        self._closed = True
        self._open.pop(id(self), None)
        # Nothing is left to be sent, so the connection need not take leave, which would outlast whoever closes its loop right after this.
        connection = self._response.connection
        if connection is not None and connection.transport is not None:
            connection.transport.abort()
        self._response.close()

    async def _rest(self) -> list[bytes] | None:
        begun = b"".join(self._begun)
        closed = self._closed
        await self.close()
        if not self._frames:
            return [begun] if begun else None
        if begun.strip() and not closed:
            raise StreamBroken("the stream ended in the middle of a frame")
        return None

    async def _checked(self, lines: list[bytes]) -> list[bytes]:
        for line in lines:
            if not line.startswith(b"{"):
                await self.close()
                raise StreamBroken(f"this is no watch frame: {line[:80]!r}")
        return lines


class _Connector(aiohttp.TCPConnector):
    """Lets a write that had to wait for its connection pass the fence again: there is nothing between this and its first byte.

    When it is closed nothing stays open, also no connection of a request that was given up: such a one takes leave by itself over TLS, for
    as long as the peer lets it, and outside of the pool.
    """

    def __init__(self) -> None:
        # How many requests are in flight is the connection's business; the pool has no bound of its own.
        super().__init__(limit=0, keepalive_timeout=_KEEP_ALIVE)
        self._open: dict[asyncio.Transport, None] = {}

    async def connect(
        self, req: aiohttp.ClientRequest, traces: list[aiohttp.tracing.Trace], timeout: aiohttp.ClientTimeout
    ) -> aiohttp.connector.Connection:
        connection = await super().connect(req, traces, timeout)
        transport, protocol = connection.transport, connection.protocol
        if transport is not None and protocol is not None and transport not in self._open and (closed := protocol.closed) is not None:
            self._open[transport] = None
            closed.add_done_callback(partial(self._forget, transport))
        if (held := held_back()) is not None:
            connection.release()
            raise Failed(held)
        return connection

    def _forget(self, transport: asyncio.Transport, closed: asyncio.Future[None]) -> None:
        self._open.pop(transport, None)
        if not closed.cancelled():
            closed.exception()  # has been told to who used the connection, if anybody did; nobody else is to hear of it

    async def close(self, *, abort_ssl: bool = False) -> None:
        """Closes all connections, and cuts those that are still taking leave."""
        await super().close(abort_ssl=abort_ssl)
        for transport in list(self._open):
            transport.abort()
        await asyncio.sleep(0)  # a socket is closed one turn of the loop after that


_TIMEOUT = aiohttp.ClientTimeout(total=None, connect=CONNECT_TIMEOUT)


def _a_little_before(operation: Operation) -> float:
    """When to stop waiting for what a request needs, so that the reason is told before the caller stops waiting; in the loop's time."""
    now = asyncio.get_running_loop().time()
    return now + (CONNECT_TIMEOUT if operation.deadline is None else (operation.deadline - now) * 0.9)


def _time_to_connect(operation: Operation) -> aiohttp.ClientTimeout:
    """A little less than the caller waits, so that a connection that never came about is told as `NotSent`, not as `Unknown`."""
    if operation.deadline is None:
        return _TIMEOUT
    remaining = (operation.deadline - asyncio.get_running_loop().time()) * 0.9
    return _TIMEOUT if remaining >= CONNECT_TIMEOUT else aiohttp.ClientTimeout(total=None, connect=max(remaining, 0.001))


def _warnings(values: list[str]) -> tuple[str, ...]:
    """The texts of `Warning` headers: `299 - "text"`."""
    return tuple(re.sub(r"\\(.)", r"\1", found[1]) if (found := _WARNING.match(value)) else value for value in values)
