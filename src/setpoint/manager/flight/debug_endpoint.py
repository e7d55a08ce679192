"""The debug endpoint: what the flight recorder, the queues and the caches have to tell, as JSON.

    /debug                                   who this is: its controllers and what they watch
    /debug/why/KIND/NAMESPACE/NAME           the runs of a key, or of what an object triggers (/debug/why/KIND/NAME without namespace)
    /debug/keys                              the queue of each controller
    /debug/cache                             the informers

It tells names of objects to whoever asks, so it listens on loopback unless told otherwise, and there answers only those who ask for
loopback by name: a web page that has a name of its own lead there gets nothing.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from setpoint.manager.flight.records import document
from setpoint.manager.flight.why import NothingKnown, caches, histories, queues
from setpoint.objects import Request
from setpoint.world import PortInUse

if TYPE_CHECKING:
    from aiohttp import web

    from setpoint.manager.manager import Manager

log = logging.getLogger("setpoint.manager")

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORTS = range(8082, 8092)
"""The first of them that is free is taken where no address was chosen, and `setpoint why` looks at all of them."""
DEFAULT = (DEFAULT_HOST, -1)
"""As an address: whichever of the default ports is free, and none at all if all are taken."""
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "::1")


@asynccontextmanager
async def serve_debug(manager: Manager, address: tuple[str, int] | None) -> AsyncIterator[str]:
    """Serves it while the context is open, and gives where, "" for nowhere. Raises `PortInUse` for an address that was chosen."""
    if address is None:
        yield ""
        return
    from aiohttp import web

    listening = _listen(manager, address)
    if listening is None:
        yield ""
        return
    host, port = listening.getsockname()[:2]
    application = web.Application(middlewares=[_from_here] if host in _LOOPBACK else [])
    for path, answer in _answers(manager).items():
        application.router.add_get(path, answer)
    runner = web.AppRunner(application, access_log=None, handle_signals=False, shutdown_timeout=1)
    await runner.setup()
    try:
        await web.SockSite(runner, listening).start()
        where = f"http://{host}:{port}"
        found = host == DEFAULT_HOST and port in DEFAULT_PORTS
        log.info(
            "serving %s/debug; why a controller runs, and what it changes:  setpoint why KIND NAMESPACE/NAME%s",
            where,
            "" if found else f" --address {where}",
        )
        yield where
    finally:
        await runner.cleanup()


def _listen(manager: Manager, address: tuple[str, int]) -> Any:
    sockets = manager.world.sockets
    if address != DEFAULT:
        return sockets.listen(*address)
    for port in DEFAULT_PORTS:
        try:
            return sockets.listen(DEFAULT_HOST, port)
        except PortInUse:
            continue
    log.warning(
        "nothing tells why keys run: the ports %d to %d are all in use; choose another one with --debug-bind-address",
        DEFAULT_PORTS[0],
        DEFAULT_PORTS[-1],
    )
    return None


def _answers(manager: Manager) -> dict[str, Callable[[web.Request], Any]]:
    async def who(request: web.Request) -> web.Response:
        controllers = [
            {"name": runtime.name, "watches": list(dict.fromkeys(informer.info.kind for informer in runtime.informers))}
            for runtime in manager.controllers
        ]
        return _json({"program": "setpoint", "server": manager.options.host, "controllers": controllers})

    async def why(request: web.Request) -> web.Response:
        key = Request(request.match_info.get("namespace", ""), request.match_info["name"])
        try:
            found = histories(manager, request.match_info["kind"], key, request.query.get("controller", ""))
        except NothingKnown as nothing:
            return _json({"error": str(nothing)}, 404)
        return _json([document(history) for history in found])

    async def keys(request: web.Request) -> web.Response:
        return _json(queues(manager))

    async def cache(request: web.Request) -> web.Response:
        return _json(caches(manager))

    return {
        "/debug": who,
        "/debug/why/{kind}/{name}": why,
        "/debug/why/{kind}/{namespace}/{name}": why,
        "/debug/keys": keys,
        "/debug/cache": cache,
    }


def _json(content: Any, status: int = 200) -> web.Response:
    from aiohttp import web

    try:
        encoded = msgspec.json.encode(content)
    except UnicodeEncodeError:  # a key that somebody has asked for, and that no server can have
        encoded = json.dumps(content).encode()
    body = msgspec.json.format(encoded, indent=2) + b"\n"
    return web.Response(body=body, status=status, content_type="application/json")


async def _from_here(request: web.Request, handler: Callable[[web.Request], Any]) -> Any:
    from aiohttp import web

    host = request.host.lower()
    if host not in _LOOPBACK and host.rpartition(":")[0] not in _LOOPBACK:
        return web.Response(status=421, text="this is served on loopback alone, under the names 127.0.0.1 and localhost\n")
    return await handler(request)


_from_here.__middleware_version__ = 1  # type: ignore[attr-defined]  # what aiohttp's decorator sets; importing it takes long
