"""The correction: what is there at the start is looked at, too."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.levelcheck.corpus import raw

from setpoint import Context, Controller, Manager, Request
from setpoint.k8s.apps.v1 import Deployment

from .kinds import SparkCluster, workers_for


@asynccontextmanager
async def app(manager: Manager) -> AsyncIterator[None]:
    controller = Controller(SparkCluster, owns=[Deployment], predicate=raw.UNHEARD, resync=None)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        cluster = await ctx.get(SparkCluster, request, live=True)
        if cluster is not None and not cluster.is_terminating:
            await ctx.apply(workers_for(cluster), owner=cluster)

    manager.add(controller)
    async with raw.beside(raw.feed(manager, controller, SparkCluster)):
        yield
