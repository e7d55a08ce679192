"""The correction: the first run after a start is like any other."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from setpoint import Context, Controller, Manager, Request
from setpoint.k8s.core.v1 import ConfigMap

from .kinds import WebPage, config_for


@asynccontextmanager
async def app(manager: Manager) -> AsyncIterator[None]:
    controller = Controller(WebPage, owns=[ConfigMap], resync=None)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        page = await ctx.get(WebPage, request)
        if page is None or page.is_terminating:
            return
        await ctx.apply(config_for(page), owner=page)
        page.status.observed_generation = page.metadata.generation or 0
        await ctx.update_status(page)

    manager.add(controller)
    yield
