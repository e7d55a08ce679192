"""Asks a server, and says what is wrong with how it answered. Each request has `PATIENCE` seconds of the process's own time."""

from __future__ import annotations

import asyncio
import json
import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import yaml
from tests.server.fuzz.requests import Request

from setpoint.api.operation import JSON, YAML
from setpoint.cluster.server import ApiServer
from setpoint.cluster.server.http.asgi import HttpFace

PATIENCE = 5.0
WAITING = 300.0
"""Seconds in which an answer must come, also from a server that only waits."""
AS_REAL = (
    "resourceVersion should not be set on objects to be created",
    "resourceVersion: Invalid value:",
    "unknown patch type: ",
    "failed to create typed patch object (",
    "unable to find api field in struct ",
    "map: map[",
    "failed to convert new object (",
    "content is not a list",
)
"""How the messages of 500 begin that a real server gives, too."""


class Halted(BaseException):
    """A request has taken too long."""


@contextmanager
def bounded() -> Iterator[None]:
    """Interrupts what takes longer than `PATIENCE`. Only in the main thread."""

    def halt(number: int, frame: FrameType | None) -> None:
        raise Halted("".join(traceback.format_stack(frame, limit=12)))

    before = signal.signal(signal.SIGPROF, halt)
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


async def ask(face: HttpFace, request: Request) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body. A watch is left as soon as it has begun."""
    path, _, query = request.target.partition(b"?")
    sent: list[dict[str, Any]] = []
    begun = asyncio.Event()
    incoming = [{"type": "http.request", "body": request.body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        if incoming:
            return incoming.pop()
        await begun.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)
        begun.set()

    scope = {
        "type": "http",
        "method": request.method,
        "path": path.decode("latin-1"),
        "raw_path": path,
        "query_string": query,
        "headers": list(request.headers),
    }
    await face(scope, receive, send)
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in sent[0]["headers"]}
    return sent[0]["status"], headers, b"".join(message.get("body", b"") for message in sent[1:])


def judged(status: int, headers: dict[str, str], body: bytes) -> str:
    """What is wrong with an answer, or nothing."""
    if status >= 500 and status not in (501, 504):
        form = headers["content-type"]
        message = yaml.safe_load(body).get("message", "") if form in (JSON, YAML) else body[:300].decode(errors="replace")
        if not message.startswith(AS_REAL):
            return f"{status}: {message}"
    if headers.get("content-type") == JSON and body and "content-encoding" not in headers:
        for line in body.splitlines() if body.startswith(b'{"type":') else [body]:
            json.loads(line)
    return ""


class Found(list[str]):
    """What was found: each a line of what is wrong, and the request."""

    counts: dict[int, int]


async def run(server: ApiServer, requests: Iterator[Request]) -> Found:
    """Sends the requests to a server, one after another."""
    face = HttpFace(server)
    found, found.counts = Found(), {}
    for request in requests:
        try:
            async with asyncio.timeout(WAITING):
                with bounded():
                    status, headers, body = await ask(face, request)
                    problem = judged(status, headers, body)
        except Halted as halted:
            status, problem = 0, f"no answer in {PATIENCE} s of CPU:\n{halted}"
        except Exception:
            status, problem = 0, traceback.format_exc(limit=-4)
        found.counts[status] = found.counts.get(status, 0) + 1
        if problem:
            found.append(f"{problem}\n  {request}")
    return found
