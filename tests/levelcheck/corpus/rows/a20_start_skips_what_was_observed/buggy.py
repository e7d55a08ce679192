"""At first sight after a start, does nothing for a page whose generation was observed before."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from setpoint import Context, Controller, Manager, Request
from setpoint.k8s.core.v1 import ConfigMap

from .kinds import WebPage, config_for


@asynccontextmanager
async def app(manager: Manager) -> AsyncIterator[None]:
    controller = Controller(WebPage, owns=[ConfigMap], resync=None)
    met: dict[Request, None] = {}  # pages seen since the start

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        page = await ctx.get(WebPage, request)
        if page is None or page.is_terminating:
            met.pop(request, None)
            return
        first, met[request] = request not in met, None
        if first and page.status.observed_generation == page.metadata.generation:
            return
        await ctx.apply(config_for(page), owner=page)
        page.status.observed_generation = page.metadata.generation or 0
        await ctx.update_status(page)

    manager.add(controller)
    yield
