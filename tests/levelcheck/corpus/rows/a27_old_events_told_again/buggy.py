"""Deletes what belongs to a repository when it is told of a deletion, whenever that was."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.levelcheck.corpus import raw

from setpoint import ApiError, Context, Controller, Manager, Request
from setpoint.k8s.core.v1 import ConfigMap

from .kinds import Repo, config_for


@asynccontextmanager
async def app(manager: Manager) -> AsyncIterator[None]:
    controller = Controller(Repo, owns=[ConfigMap], predicate=raw.UNHEARD, resync=None)

    async def follow() -> None:
        async for event in raw.events(manager.client, Repo, resume="listed"):
            if event.type == "DELETED":
                await deleted(event.key)
            else:
                manager.trigger(controller, event.key)

    async def deleted(key: Request) -> None:
        while True:
            try:
                return await manager.client.delete(ConfigMap, key)
            except ApiError:
                await asyncio.sleep(1)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        repo = await ctx.get(Repo, request, live=True)
        if repo is not None and not repo.is_terminating:
            await ctx.apply(config_for(repo), owner=repo)

    manager.add(controller)
    async with raw.beside(follow()):
        yield
