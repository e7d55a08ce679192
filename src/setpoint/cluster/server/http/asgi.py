"""The server's HTTP face: an ASGI application before `ApiServer.handle`.

It turns a request into an `Operation`, an `Answer` into a response and a `Stream` into a chunked one; it knows who asks (see `auth`), in
what form the answer is to be (see `rendering`), how long a request may take (see `deadlines`), and nothing of what is asked. Mount it in
any ASGI server, or let `serving` listen.

https://kubernetes.io/docs/reference/using-api/api-concepts/
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import quote

import msgspec

from setpoint.api import ADMIN, Answer, ApiError, Identity, Operation, ServedStream, StreamBroken
from setpoint.api.operation import ConnectionDropped
from setpoint.api.paths import MethodNotAllowed, NotAPath, from_http, is_encoded
from setpoint.api.status import failure, not_supported_here
from setpoint.cluster.server.about.health import is_health
from setpoint.cluster.server.about.paths import no_such_path, not_allowed, only_read
from setpoint.cluster.server.http.auth import Tokens
from setpoint.cluster.server.http.deadlines import allowed_seconds, too_slow
from setpoint.cluster.server.http.rendering import packed, written
from setpoint.cluster.server.server import ApiServer

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Headers: TypeAlias = list[tuple[bytes, bytes]]

BODY_LIMIT = 3 * 1024 * 1024
"""Bytes of a request's body; the real server has the same limit."""
CHUNK = 256 * 1024
"""Bytes of watch frames that are sent in one piece, if there are so many: a client that reads slowly is to be noticed."""
PATIENCE = 10.0
"""Seconds without any progress after which a client is cut off that does not read the rest of a watch that has ended."""

ABORT = "setpoint.abort"
"""The key of a scope's state under which `serving` puts what lets go of the connection at once."""
Handle: TypeAlias = Callable[[Operation, Identity], Awaitable[Answer | ServedStream]]


class Disconnected(Exception):
    """The client has gone before its request was complete."""


@dataclass
class Exchange:
    """A request and what has come of it. `status` is 0 where nothing was answered; `operation` is None for what makes no sense."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    audit: str
    user: str = ""
    status: int = 0
    operation: Operation | None = None
    warnings: list[str] = field(default_factory=list)


Log: TypeAlias = Callable[[Exchange, float], None]
"""Told of each exchange at its end, with the seconds that it took."""


class HttpFace:
    """An ASGI application that serves one `ApiServer`. Without `tokens`, everybody is the administrator.

    `handle` is what is asked instead of the server itself: something before it, such as faults. `log` is told of each request.
    """

    def __init__(
        self,
        server: ApiServer,
        tokens: Mapping[str, Identity] | None = None,
        *,
        anonymous: bool = False,
        handle: Handle | None = None,
        log: Log | None = None,
    ) -> None:
        self._server = server
        self._handle: Handle = handle if handle is not None else server.handle
        self._tokens = Tokens(tokens, anonymous=anonymous) if tokens is not None else None
        self._log = log
        self._watches: dict[ServedStream, None] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request. Raises `RuntimeError` for what is no HTTP request."""
        if scope["type"] != "http":
            raise RuntimeError(f"the API server speaks HTTP, and no {scope['type']}")
        exchange = self._begun(scope)
        if self._log is None:
            await self._serve(exchange, scope, receive, send)
            return
        clock = self._server.world.clock
        began = clock.monotonic()
        try:
            await self._serve(exchange, scope, receive, send)
        finally:
            self._log(exchange, clock.monotonic() - began)

    async def end_watches(self) -> None:
        """Ends all watches that clients have here, cleanly: the last of each is the end of its body."""
        for stream in list(self._watches):
            await stream.close()

    def _begun(self, scope: Scope) -> Exchange:
        headers = _headers(scope)
        return Exchange(
            method=scope["method"],
            path=scope["raw_path"].decode("latin-1") if scope.get("raw_path") else quote(scope["path"]),
            query=scope.get("query_string", b"").decode("latin-1"),
            headers=headers,
            audit=headers.get("audit-id") or self._server.world.chance.uuid(),
        )

    async def _serve(self, exchange: Exchange, scope: Scope, receive: Receive, send: Send) -> None:
        close = False
        try:
            outcome = await self._outcome(exchange, receive)
        except Disconnected:
            return
        except ConnectionDropped:
            _let_go(scope)
            return
        except TimeoutError:
            outcome, close = too_slow().status.answer(), True
        except ApiError as error:
            outcome = error.status.answer()
        if isinstance(outcome, Answer):
            exchange.status = outcome.status
            await _send_answer(exchange, outcome, send, close=close)
        else:
            exchange.status = 200
            await self._send_stream(outcome, exchange, scope, receive, send)

    async def _outcome(self, exchange: Exchange, receive: Receive) -> Answer | ServedStream:
        headers, path = exchange.headers, exchange.path
        identity = ADMIN
        if self._tokens is not None:
            identity = self._tokens.identify(headers.get("authorization", ""), exchange.warnings, public=is_health(path))
        exchange.user = identity.user
        if any(name.startswith("impersonate-") and value for name, value in headers.items()):
            raise not_supported_here("impersonation")
        if not is_encoded(path):
            return Answer(status=400, body=b"400 Bad Request", content_type="text/plain; charset=utf-8")
        try:
            operation = exchange.operation = from_http(exchange.method, path, exchange.query, headers)
        except NotAPath:
            return no_such_path()
        except MethodNotAllowed as error:
            return self._server.refuse_method(error.operation)
        seconds = allowed_seconds(operation)
        if seconds is None:
            return await self._handle(operation, identity)
        async with asyncio.timeout(seconds):
            if exchange.method != "GET":
                body = await _body(headers, receive)
                operation = exchange.operation = msgspec.structs.replace(operation, body=body)
            answer = await self._handle(operation, identity)
        if operation.resource is None and exchange.method != "GET" and isinstance(answer, Answer) and answer.ok and only_read(path):
            raise not_allowed()
        return answer

    async def _send_stream(self, stream: ServedStream, exchange: Exchange, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends frames until the server ends the stream or the client goes, whichever comes first."""
        self._watches[stream] = None
        sending = _Sending(stream, exchange, send)
        frames = asyncio.create_task(sending.run())
        gone = asyncio.create_task(_until_gone(receive))

        def cut() -> None:
            _let_go(scope)
            frames.cancel()

        stream.when_ended(lambda: sending.finish(cut))
        try:
            # Sending alone would not do: what is sent to a client that has gone vanishes without an error.
            await asyncio.wait((frames, gone), return_when=asyncio.FIRST_COMPLETED)
        finally:
            del self._watches[stream]
            ended = frames.done()
            for task in (frames, gone):
                task.cancel()
            await asyncio.gather(frames, gone, return_exceptions=True)
            await stream.close()
        if ended and not frames.cancelled():
            try:
                frames.result()
            except StreamBroken:
                _let_go(scope)


def _let_go(scope: Scope) -> None:
    """Closes the connection without a word, where it is known how."""
    abort = scope.get("state", {}).get(ABORT)
    if abort is not None:
        abort()


def _headers(scope: Scope) -> dict[str, str]:
    """The request's headers by lower-case name; those that come more than once are joined by commas, as HTTP has it."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


async def _body(headers: Mapping[str, str], receive: Receive) -> bytes:
    """The request's body. Raises `RequestEntityTooLarge` and `Disconnected`."""
    length = headers.get("content-length", "")
    if length.isdigit() and int(length) > BODY_LIMIT:
        raise _too_large()
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        part = message.get("body", b"")
        size += len(part)
        if size > BODY_LIMIT:
            raise _too_large()
        parts.append(part)
        if not message.get("more_body", False):
            return parts[0] if len(parts) == 1 else b"".join(parts)


def _too_large() -> ApiError:
    return failure(413, "RequestEntityTooLarge", f"Request entity too large: limit is {BODY_LIMIT}")


async def _send_answer(exchange: Exchange, answer: Answer, send: Send, *, close: bool) -> None:
    if exchange.operation is not None:
        answer = written(answer, exchange.operation)
    answer = packed(answer, exchange.headers.get("accept-encoding", ""))
    headers = _common(exchange.audit, answer.content_type)
    if close:
        headers.append((b"connection", b"close"))
    headers += [(name.encode("latin-1"), value.encode("latin-1")) for name, value in answer.headers.items()]
    if "cache-control" not in answer.headers:
        headers.append((b"cache-control", b"no-cache, private"))
    headers += [(b"warning", warning_header(text)) for text in (*exchange.warnings, *answer.warnings)]
    headers.append((b"content-length", b"%d" % len(answer.body)))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})


class _Sending:
    """The frames of one stream on their way to the client."""

    def __init__(self, stream: ServedStream, exchange: Exchange, send: Send) -> None:
        self._stream = stream
        self._exchange = exchange
        self._send = send
        self._pieces = 0
        self._patience: asyncio.TimerHandle | None = None
        self._over = False

    async def run(self) -> None:
        """Sends all. Raises what the stream raises."""
        send, read = self._send, self._stream.read
        headers = [*_common(self._exchange.audit, "application/json"), (b"cache-control", b"no-cache, private")]
        try:
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            while (frames := await read()) is not None:
                for chunk in _chunks(frames):
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
                    self._pieces += 1
            await send({"type": "http.response.body", "body": b""})
        finally:
            self._over = True
            if self._patience is not None:
                self._patience.cancel()

    def finish(self, cut: Callable[[], None]) -> None:
        """The stream has ended: what is left of it is to be taken, or the client is cut off."""
        if not self._over:
            self._patience = asyncio.get_running_loop().call_later(PATIENCE, self._check, self._pieces, cut)

    def _check(self, before: int, cut: Callable[[], None]) -> None:
        if self._pieces == before:
            cut()
        else:
            self.finish(cut)


def _chunks(frames: list[bytes]) -> Iterator[bytes]:
    """The frames, each ended by a newline, in pieces of about `CHUNK` bytes."""
    if len(frames) == 1:  # most often
        yield frames[0] + b"\n"
        return
    first = size = 0
    for at, frame in enumerate(frames):
        size += len(frame) + 1
        if size >= CHUNK:
            yield b"\n".join(frames[first : at + 1]) + b"\n"
            first, size = at + 1, 0
    if first < len(frames):
        yield b"\n".join(frames[first:]) + b"\n"


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _common(audit: str, content_type: str) -> Headers:
    return [(b"audit-id", audit.encode("latin-1")), (b"content-type", content_type.encode("latin-1"))]


def warning_header(text: str) -> bytes:
    """The value of a `Warning` header: code 299, no agent, the text in quotes. What would break the header becomes a space."""
    printable = "".join(letter if letter.isprintable() else " " for letter in text)
    escaped = printable.replace("\\", "\\\\").replace('"', '\\"')
    return f'299 - "{escaped}"'.encode()
