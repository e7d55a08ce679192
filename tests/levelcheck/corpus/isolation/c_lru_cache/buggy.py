"""Remembers what was leased in a book that is made once, by an `lru_cache`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import lru_cache

from setpoint import Context, Controller, Manager, Request
from setpoint.k8s.core.v1 import ConfigMap

from .kinds import FINALIZER, Gateway, settings_for
from .outside import Leases


@lru_cache(maxsize=1)
def book() -> dict[str, str]:
    """Who has which address."""
    return {}


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
        if gateway.uid not in book():
            book()[gateway.uid] = await ctx.effect(leases.lease, str(request))
        await ctx.apply(settings_for(gateway, book()[gateway.uid]), owner=gateway)
        gateway.status.port = gateway.spec.port
        await ctx.update_status(gateway)

    manager.add(controller)
    yield
