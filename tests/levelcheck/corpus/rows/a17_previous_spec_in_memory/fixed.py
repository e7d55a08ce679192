"""The correction: what is wanted is compared with the StatefulSet that there is, and nothing is remembered."""

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
        if cluster is None or cluster.is_terminating:
            return
        current = await ctx.get(StatefulSet, request)
        if current is None:
            await ctx.create(statefulset_for(cluster), owner=cluster)
        elif current.spec.replicas != cluster.spec.replicas:
            await ctx.patch(StatefulSet, request, {"spec": {"replicas": cluster.spec.replicas}})

    manager.add(controller)
    yield
