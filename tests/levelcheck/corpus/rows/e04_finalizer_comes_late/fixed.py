"""The correction: the finalizer is there before anything is rented."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from setpoint import Context, Controller, Manager, Request

from .kinds import FINALIZER, CloudMachine
from .outside import Cloud


@asynccontextmanager
async def app(manager: Manager, cloud: Cloud) -> AsyncIterator[None]:
    controller = Controller(CloudMachine, name="machine")

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        machine = await ctx.get(CloudMachine, request)
        if machine is None:
            return
        if machine.is_terminating:
            await ctx.effect(cloud.remove, machine.uid)
            await ctx.remove_finalizer(machine, FINALIZER)
        elif not machine.status.rented:
            await ctx.add_finalizer(machine, FINALIZER)
            await ctx.effect(cloud.ensure, machine.uid, machine.spec.size)
            machine.status.rented = True
            await ctx.update_status(machine)

    manager.add(controller)
    yield
