"""The correction: an event of whatever type says only which repository is to be looked at."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.levelcheck.corpus import raw

from setpoint import Context, Controller, Manager, Request
from setpoint.k8s.core.v1 import ConfigMap

from .kinds import Repo, config_for


@asynccontextmanager
async def app(manager: Manager) -> AsyncIterator[None]:
    controller = Controller(Repo, owns=[ConfigMap], predicate=raw.UNHEARD, resync=None)

    async def follow() -> None:
        async for event in raw.events(manager.client, Repo, resume="listed"):
            manager.trigger(controller, event.key)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        repo = await ctx.get(Repo, request, live=True)
        if repo is None:
            await ctx.client.delete(ConfigMap, request)
        elif not repo.is_terminating:
            await ctx.apply(config_for(repo), owner=repo)

    manager.add(controller)
    async with raw.beside(follow()):
        yield
