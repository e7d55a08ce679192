"""Deletes the StatefulSet that has the cluster's name, whosever it is."""

from contextlib import suppress

from setpoint import Context, Controller, NotFound, Request
from setpoint.k8s.apps.v1 import StatefulSet

from .kinds import FINALIZER, RabbitmqCluster, statefulset_for

controller = Controller(RabbitmqCluster, name="rabbitmq", owns=[StatefulSet])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    cluster = await ctx.get(RabbitmqCluster, request)
    if cluster is None:
        return
    if not cluster.is_terminating:
        await ctx.add_finalizer(cluster, FINALIZER)
        if await ctx.get(StatefulSet, request) is None:
            await ctx.create(statefulset_for(cluster), owner=cluster)
    elif FINALIZER in cluster.metadata.finalizers:
        with suppress(NotFound):
            await ctx.client.delete(StatefulSet, request)
        await ctx.remove_finalizer(cluster, FINALIZER)
