"""The server's HTTP face: an ASGI application before `ApiServer.handle`.

It turns a request into an `Operation`, an `Answer` into a response and a `Stream` into a chunked one; it knows who asks (see `auth`) and
nothing of what is asked. Mount it in any ASGI server, or let `serving` listen.

Answers are not compressed: between processes of one machine that costs more than it saves.

https://kubernetes.io/docs/reference/using-api/api-concepts/
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping
from typing import Any, TypeAlias
from urllib.parse import quote

from setpoint.api import ADMIN, Answer, ApiError, Identity, Stream
from setpoint.api.paths import MethodNotAllowed, NotAPath, from_http
from setpoint.api.status import StatusDetails, failure, not_supported_here
from setpoint.cluster.server.auth import Tokens
from setpoint.cluster.server.health import is_health
from setpoint.cluster.server.paths import no_such_path
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


class Disconnected(Exception):
    """The client has gone before its request was complete."""


class HttpFace:
    """An ASGI application that serves one `ApiServer`. Without `tokens`, everybody is the administrator."""

    def __init__(self, server: ApiServer, tokens: Mapping[str, Identity] | None = None) -> None:
        self._server = server
        self._tokens = Tokens(tokens) if tokens is not None else None
        self._watches: dict[Stream, None] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request. Raises `RuntimeError` for what is no HTTP request."""
        if scope["type"] != "http":
            raise RuntimeError(f"the API server speaks HTTP, and no {scope['type']}")
        headers = _headers(scope)
        audit = headers.get("audit-id") or self._server.world.chance.uuid()
        try:
            outcome = await self._outcome(scope, headers, receive)
        except Disconnected:
            return
        except ApiError as error:
            outcome = error.status.answer()
        if isinstance(outcome, Answer):
            await _send_answer(outcome, audit, send)
        else:
            await self._send_stream(outcome, audit, receive, send)

    async def end_watches(self) -> None:
        """Ends all watches that clients have here, cleanly: the last of each is the end of its body."""
        for stream in list(self._watches):
            await stream.close()

    async def _outcome(self, scope: Scope, headers: Mapping[str, str], receive: Receive) -> Answer | Stream:
        path = scope["raw_path"].decode("latin-1") if scope.get("raw_path") else quote(scope["path"])
        identity = ADMIN if self._tokens is None or is_health(path) else self._tokens.identify(headers.get("authorization", ""))
        if "impersonate-user" in headers:
            raise not_supported_here("impersonation")
        body = await _body(headers, receive)
        try:
            operation = from_http(scope["method"], path, scope.get("query_string", b"").decode("latin-1"), headers, body)
        except NotAPath:
            return no_such_path()
        except MethodNotAllowed:
            message = "the server does not allow this method on the requested resource"
            raise failure(405, "MethodNotAllowed", message, StatusDetails()) from None
        return await self._server.handle(operation, identity)

    async def _send_stream(self, stream: Stream, audit: str, receive: Receive, send: Send) -> None:
        """Sends frames until the server ends the stream or the client goes, whichever comes first."""
        self._watches[stream] = None
        frames = asyncio.create_task(_send_frames(stream, audit, send))
        gone = asyncio.create_task(_until_gone(receive))
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
        if ended:
            frames.result()


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


async def _send_answer(answer: Answer, audit: str, send: Send) -> None:
    headers = _common(audit, answer.content_type)
    headers += [(name.encode("latin-1"), value.encode("latin-1")) for name, value in answer.headers.items()]
    if "cache-control" not in answer.headers:
        headers.append((b"cache-control", b"no-cache, private"))
    headers += [(b"warning", warning_header(text)) for text in answer.warnings]
    headers.append((b"content-length", b"%d" % len(answer.body)))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})


async def _send_frames(stream: Stream, audit: str, send: Send) -> None:
    headers = [*_common(audit, "application/json"), (b"cache-control", b"no-cache, private")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    while (frames := await stream.read()) is not None:
        for chunk in _chunks(frames):
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


def _chunks(frames: list[bytes]) -> Iterator[bytes]:
    """The frames, each ended by a newline, in pieces of about `CHUNK` bytes."""
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
