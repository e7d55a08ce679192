"""Knows what it has created by the identifier in the status alone."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from setpoint import Context, Controller, Manager, Request

from .kinds import FINALIZER, Database
from .outside import Cloud


@asynccontextmanager
async def app(manager: Manager, cloud: Cloud) -> AsyncIterator[None]:
    controller = Controller(Database, name="database")

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        database = await ctx.get(Database, request)
        if database is None:
            return
        if database.is_terminating:
            if database.status.identifier:
                await ctx.effect(cloud.delete, database.status.identifier)
            await ctx.remove_finalizer(database, FINALIZER)
            return
        await ctx.add_finalizer(database, FINALIZER)
        if not database.status.identifier:
            database.status.identifier = await ctx.effect(cloud.create, database.uid)
            await ctx.update_status(database)

    manager.add(controller)
    yield
