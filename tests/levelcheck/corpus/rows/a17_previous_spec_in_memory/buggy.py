"""Applies the difference between the wish that it saw before and the present one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from setpoint import Context, Controller, Manager, Request
from setpoint.k8s.apps.v1 import StatefulSet

from .kinds import Cassandra, ClusterSpec, statefulset_for


@asynccontextmanager
async def app(manager: Manager) -> AsyncIterator[None]:
    controller = Controller(Cassandra, owns=[StatefulSet])
    previous: dict[Request, ClusterSpec] = {}

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        cluster = await ctx.get(Cassandra, request)
        if cluster is None or cluster.is_terminating:
            previous.pop(request, None)
            return
        before = previous.get(request)
        is_met = before is None and await ctx.get(StatefulSet, request) is not None
        if not is_met and before != cluster.spec:
            await ctx.apply(statefulset_for(cluster), owner=cluster)
        previous[request] = cluster.spec

    manager.add(controller)
    yield
