"""The HTTP endpoints of a manager: `/metrics` on one port, `/healthz` and `/readyz` on another, as controller-runtime has them.

Hooks, which other programs call, have a third; see `hooks`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from prometheus_client.registry import CollectorRegistry

from setpoint.manager.health import Checks, outcome
from setpoint.manager.hooks import Find
from setpoint.manager.hooks import application as hooks_of
from setpoint.manager.metrics.exposition import negotiated
from setpoint.world import World

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from aiohttp import web

log = logging.getLogger("setpoint.manager")


def _probe(checks: Checks) -> Callable[[web.Request], object]:
    from aiohttp import web

    async def answer(request: web.Request) -> web.Response:
        only = request.match_info.get("check")
        if only is not None and only not in checks:
            return web.Response(status=404, text=f'no check is named "{only}"\n')
        results = {name: await outcome(check) for name, check in list(checks.items()) if only in (None, name)}
        failed = any(problem is not None for problem in results.values())
        if not failed and "verbose" not in request.query:
            return web.Response(text="ok")
        lines = [f"[+]{name} ok" if problem is None else f"[-]{name} failed: {problem}" for name, problem in results.items()]
        return web.Response(status=500 if failed else 200, text="\n".join([*lines, "check failed" if failed else "check passed", ""]))

    return answer


@asynccontextmanager
async def serve(
    world: World,
    *,
    registry: CollectorRegistry,
    live: Checks,
    ready: Checks,
    metrics: tuple[str, int] | None,
    health: tuple[str, int] | None,
    hooks: tuple[str, int] | None = None,
    controllers: Find = lambda name: None,
) -> AsyncIterator[list[str]]:
    """Serves the endpoints while the context is open, and gives their addresses. An address of None is not served; port 0 is any port.
    Hooks are those of `controllers`.

    Raises `PortInUse`.
    """
    if metrics is None and health is None and hooks is None:
        yield []
        return
    from aiohttp import web  # which takes long to load, and simulations and embedded runs serve nothing

    async def show_metrics(request: web.Request) -> web.Response:
        body, media = negotiated(registry, request.headers.get("Accept", ""))
        response = web.Response(body=body, headers={"Content-Type": media})
        response.enable_compression()  # as the client accepts
        return response

    addresses: list[str] = []
    async with AsyncExitStack() as stack:
        for address, routes in (
            (metrics, {"/metrics": show_metrics}),
            (
                health,
                {
                    path: _probe(checks)
                    for name, checks in (("healthz", live), ("readyz", ready))
                    for path in (f"/{name}", f"/{name}/{{check}}")
                },
            ),
        ):
            if address is None:
                continue
            application = web.Application()
            for path, handler in routes.items():
                application.router.add_get(path, handler)  # type: ignore[arg-type]
            addresses.append(await _listen(stack, world, address, application))
            log.info("serving %s%s", addresses[-1], next(iter(routes)))
        if hooks is not None:
            addresses.append(await _listen(stack, world, hooks, hooks_of(controllers)))
            log.info("serving %s/hooks", addresses[-1])
        yield addresses


async def _listen(stack: AsyncExitStack, world: World, address: tuple[str, int], application: web.Application) -> str:
    """Serves it until the stack is closed, and gives where."""
    from aiohttp import web

    runner = web.AppRunner(application, access_log=None, handle_signals=False, shutdown_timeout=1)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    listening = world.sockets.listen(*address)
    await web.SockSite(runner, listening).start()
    return "http://{}:{}".format(*listening.getsockname()[:2])
