"""The correction: each run states what is wanted, whatever was wanted before, and nothing is remembered."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from setpoint import Context, Controller, Manager, Request
from setpoint.k8s.apps.v1 import StatefulSet

from .kinds import Cassandra, statefulset_for


@asynccontextmanager
async def app(manager: Manager) -> AsyncIterator[None]:
    controller = Controller(Cassandra, owns=[StatefulSet])

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        cluster = await ctx.get(Cassandra, request)
        if cluster is not None and not cluster.is_terminating:
            await ctx.apply(statefulset_for(cluster), owner=cluster)

    manager.add(controller)
    yield
