"""The two servers, each behind the same few words: ask, and open a watch.

The real one is reached over one connection that is kept alive. The embedded one is in this process, behind its HTTP face but without a
socket: what is compared is what would go over the wire.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from setpoint.api import ADMIN
from setpoint.cluster.server import ApiServer
from setpoint.cluster.server.http.asgi import HttpFace
from setpoint.world import real_world

from .steps import Answer, Json, Request

PATIENCE = 10.0
"""Seconds within which an answer or an awaited event must come."""
_TOKEN = "differential"


class Standing(Protocol):
    """A watch that is open."""

    def until(self, found: Callable[[Json], bool]) -> list[Json]:
        """The events up to the first that is meant, or to the end of the stream. Raises TimeoutError."""
        ...

    def close(self) -> None:
        """Leaves."""
        ...


class Server(Protocol):
    """A server under test. `begin` sends, and gives what waits for the answer, so that two servers can work at once.

    `at_once` says that all that a write brings about is done before the next request.
    """

    at_once: bool

    def begin(self, request: Request) -> Callable[[], Answer]: ...

    def watch(self, request: Request) -> Answer | Standing: ...

    def close(self) -> None: ...


def _answer(status: int, headers: list[tuple[str, str]], body: bytes) -> Answer:
    content_type = next((value for name, value in headers if name == "content-type"), "")
    text = body.decode(errors="replace")
    return Answer(
        status,
        content_type,
        tuple(value for name, value in headers if name == "warning"),
        json.loads(text) if content_type.startswith("application/json") and text else text,
    )


class RealServer:
    """The kube-apiserver of a kubeconfig that has a bearer token."""

    at_once = False

    def __init__(self, kubeconfig: Path) -> None:
        config = json.loads(kubeconfig.read_text())
        cluster = config["clusters"][0]["cluster"]
        url = urlsplit(cluster["server"])
        self._host, self._port = url.hostname or "", url.port or 443
        self._tls = ssl.create_default_context(cafile=cluster["certificate-authority"])
        self._token = config["users"][0]["user"]["token"]
        self._line = self._connect()

    def _connect(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection(self._host, self._port, context=self._tls, timeout=PATIENCE)

    def _send(self, line: http.client.HTTPSConnection, request: Request) -> None:
        headers = {"Authorization": f"Bearer {self._token}", "Accept": request.accept, "User-Agent": "differential/1"}
        if request.content_type:
            headers["Content-Type"] = request.content_type
        line.request(request.method, request.target, request.body or None, headers)

    def begin(self, request: Request) -> Callable[[], Answer]:
        """See `Server`."""
        self._send(self._line, request)

        def receive() -> Answer:
            with self._line.getresponse() as response:
                return _answer(response.status, _lower(response.getheaders()), response.read())

        return receive

    def watch(self, request: Request) -> Answer | Standing:
        """See `Server`."""
        line = self._connect()
        self._send(line, request)
        response = line.getresponse()
        if response.status == 200:
            return _RealWatch(line, response)
        with response:
            answer = _answer(response.status, _lower(response.getheaders()), response.read())
        line.close()
        return answer

    def close(self) -> None:
        """See `Server`."""
        self._line.close()


def _lower(headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name.lower(), value) for name, value in headers]


class _RealWatch:
    def __init__(self, line: http.client.HTTPSConnection, response: http.client.HTTPResponse) -> None:
        self._line, self._response = line, response

    def until(self, found: Callable[[Json], bool]) -> list[Json]:
        events: list[Json] = []
        while text := self._response.readline():
            events.append(json.loads(text))
            if found(events[-1]):
                break
        return events

    def close(self) -> None:
        self._response.close()
        self._line.close()


class EmbeddedServer:
    """The server of this repository, without controllers, on an event loop that runs while it is asked."""

    at_once = True

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self.server: ApiServer = self._loop.run_until_complete(self._start())
        self._face = HttpFace(self.server, {_TOKEN: ADMIN})

    async def _start(self) -> ApiServer:
        return ApiServer(real_world())

    def begin(self, request: Request) -> Callable[[], Answer]:
        """See `Server`: asked at once, since nobody else would do the work meanwhile."""
        exchange = _Exchange(request)
        self._loop.run_until_complete(self._face(exchange.scope, exchange.receive, exchange.send))
        return exchange.answer

    def watch(self, request: Request) -> Answer | Standing:
        """See `Server`."""
        exchange = _Exchange(request)
        task = self._loop.create_task(self._face(exchange.scope, exchange.receive, exchange.send))
        self._run(exchange.started.wait())
        if exchange.status != 200:
            self._run(task)
            return exchange.answer()
        return _EmbeddedWatch(self._run, exchange, task)

    def close(self) -> None:
        """See `Server`."""
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    def _run(self, waiting: Any) -> Any:
        return self._loop.run_until_complete(asyncio.wait_for(waiting, PATIENCE))


class _Exchange:
    """One request of an ASGI application, and what it sends."""

    def __init__(self, request: Request) -> None:
        path, _, query = request.target.partition("?")
        headers = [
            (b"authorization", f"Bearer {_TOKEN}".encode()),
            (b"accept", request.accept.encode()),
            (b"user-agent", b"differential/1"),
        ]
        if request.content_type:
            headers.append((b"content-type", request.content_type.encode()))
        if request.body:
            headers.append((b"content-length", b"%d" % len(request.body)))
        self.scope: dict[str, Any] = {
            "type": "http", "method": request.method, "path": path, "raw_path": path.encode(), "query_string": query.encode(),
            "headers": headers, "client": ("127.0.0.1", 1), "scheme": "https", "http_version": "1.1",
        }  # fmt: skip
        self._body: bytes | None = request.body
        self.status = 0
        self._headers: list[tuple[str, str]] = []
        self._parts: list[bytes] = []
        self.started = asyncio.Event()
        self.news = asyncio.Event()
        self.ended = False
        self.gone = asyncio.Event()

    async def receive(self) -> dict[str, Any]:
        """The body, then nothing until the client goes."""
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        """Takes what the application says."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self._headers = [(name.decode().lower(), value.decode("utf-8")) for name, value in message["headers"]]
            self.started.set()
            return
        self._parts.append(message.get("body", b""))
        self.ended = not message.get("more_body", False)
        self.news.set()

    def answer(self) -> Answer:
        """All that was said."""
        return _answer(self.status, self._headers, b"".join(self._parts))

    def lines(self) -> list[bytes]:
        """The whole lines since the last call."""
        *whole, rest = b"".join(self._parts).split(b"\n")
        self._parts = [rest]
        self.news.clear()
        return whole


class _EmbeddedWatch:
    def __init__(self, run: Callable[[Any], Any], exchange: _Exchange, task: asyncio.Task[None]) -> None:
        self._run, self._exchange, self._task = run, exchange, task
        self._events: list[Json] = []

    def until(self, found: Callable[[Json], bool]) -> list[Json]:
        taken: list[Json] = []
        while True:
            self._events += [json.loads(line) for line in self._exchange.lines()]
            while self._events:
                taken.append(self._events.pop(0))
                if found(taken[-1]):
                    return taken
            if self._exchange.ended:
                return taken
            self._run(self._exchange.news.wait())

    def close(self) -> None:
        self._exchange.gone.set()
        self._run(self._task)
