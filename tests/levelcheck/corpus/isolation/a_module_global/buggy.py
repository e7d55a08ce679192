"""Remembers the serial numbers in a module global."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from setpoint import Context, Controller, Manager, Request

from .kinds import FINALIZER, Host
from .outside import Authority

NUMBERS: dict[Request, int] = {}


@asynccontextmanager
async def app(manager: Manager, authority: Authority) -> AsyncIterator[None]:
    controller = Controller(Host)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        host = await ctx.get(Host, request)
        if host is None:
            return
        if host.is_terminating:
            if request in NUMBERS:
                await ctx.effect(authority.revoke, NUMBERS[request])
            await ctx.remove_finalizer(host, FINALIZER)
            NUMBERS.pop(request, None)
            return
        await ctx.add_finalizer(host, FINALIZER)
        NUMBERS[request] = await ctx.effect(authority.ensure, host.spec.domain)
        host.status.certified = True
        await ctx.update_status(host)

    manager.add(controller)
    yield
