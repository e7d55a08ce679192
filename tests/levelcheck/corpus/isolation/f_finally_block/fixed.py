"""The correction: traffic is given back in every run that has the settings as they should be, whoever took it away."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from setpoint import Context, Controller, Manager, Request
from setpoint.k8s.core.v1 import ConfigMap

from .kinds import FINALIZER, Server, settings_for
from .outside import Balancer


@asynccontextmanager
async def app(manager: Manager, balancer: Balancer) -> AsyncIterator[None]:
    controller = Controller(Server, owns=[ConfigMap])

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        server = await ctx.get(Server, request)
        if server is None:
            return
        if server.is_terminating:
            await ctx.effect(balancer.restore, server.name)
            await ctx.remove_finalizer(server, FINALIZER)
            return
        await ctx.add_finalizer(server, FINALIZER)
        wanted = settings_for(server)
        settings = await ctx.get(ConfigMap, wanted.key)
        if settings is None or settings.data != wanted.data:
            await ctx.effect(balancer.drain, server.name)
            await ctx.apply(wanted, owner=server)
        await ctx.effect(balancer.restore, server.name)
        server.status.mode = server.spec.mode
        await ctx.update_status(server)

    manager.add(controller)
    yield
