"""Takes a dying object without its finalizer for a living one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from setpoint import Context, Controller, Manager, Request

from .kinds import FINALIZER, Gateway
from .outside import Cloud


@asynccontextmanager
async def app(manager: Manager, cloud: Cloud) -> AsyncIterator[None]:
    controller = Controller(Gateway, name="gateway")

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        gateway = await ctx.get(Gateway, request)
        if gateway is None:
            return
        if gateway.is_terminating and FINALIZER in gateway.metadata.finalizers:
            await ctx.effect(cloud.remove, str(request))
            await ctx.remove_finalizer(gateway, FINALIZER)
            return
        if FINALIZER not in gateway.metadata.finalizers:
            gateway.metadata.finalizers.append(FINALIZER)
            await ctx.update(gateway)
        if not gateway.status.rented:
            await ctx.effect(cloud.ensure, str(request))
            gateway.status.rented = True
            await ctx.update_status(gateway)

    manager.add(controller)
    yield
