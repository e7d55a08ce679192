"""The correction: the number is asked of the authority when it is needed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from setpoint import Context, Controller, Manager, Request

from .kinds import FINALIZER, Host
from .outside import Authority


@asynccontextmanager
async def app(manager: Manager, authority: Authority) -> AsyncIterator[None]:
    controller = Controller(Host)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        host = await ctx.get(Host, request)
        if host is None:
            return
        if host.is_terminating:
            number = await ctx.effect(authority.find, host.spec.domain)
            if number is not None:
                await ctx.effect(authority.revoke, number)
            await ctx.remove_finalizer(host, FINALIZER)
            return
        await ctx.add_finalizer(host, FINALIZER)
        await ctx.effect(authority.ensure, host.spec.domain)
        host.status.certified = True
        await ctx.update_status(host)

    manager.add(controller)
    yield
