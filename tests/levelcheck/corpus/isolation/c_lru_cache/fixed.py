"""The correction: which address it has is asked of whoever leases them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from setpoint import Context, Controller, Manager, Request
from setpoint.k8s.core.v1 import ConfigMap

from .kinds import FINALIZER, Gateway, settings_for
from .outside import Leases


@asynccontextmanager
async def app(manager: Manager, leases: Leases) -> AsyncIterator[None]:
    controller = Controller(Gateway, owns=[ConfigMap])

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        gateway = await ctx.get(Gateway, request)
        if gateway is None:
            return
        if gateway.is_terminating:
            await ctx.effect(leases.give_back, str(request))
            await ctx.remove_finalizer(gateway, FINALIZER)
            return
        await ctx.add_finalizer(gateway, FINALIZER)
        held = await ctx.effect(leases.held_by, str(request))
        address = held[0] if held else await ctx.effect(leases.lease, str(request))
        await ctx.apply(settings_for(gateway, address), owner=gateway)
        gateway.status.port = gateway.spec.port
        await ctx.update_status(gateway)

    manager.add(controller)
    yield
