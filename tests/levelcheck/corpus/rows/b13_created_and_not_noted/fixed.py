"""The correction: what was created is found in the cloud itself, by the tag that it carries."""

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
            for identifier in await ctx.effect(cloud.find, database.uid):
                await ctx.effect(cloud.delete, identifier)
            await ctx.remove_finalizer(database, FINALIZER)
            return
        await ctx.add_finalizer(database, FINALIZER)
        if not database.status.identifier:
            found = await ctx.effect(cloud.find, database.uid)
            database.status.identifier = found[0] if found else await ctx.effect(cloud.create, database.uid)
            await ctx.update_status(database)

    manager.add(controller)
    yield
