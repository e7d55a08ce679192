"""Refuses to shrink below what there is."""

from setpoint import Context, Controller, Request
from setpoint.k8s.apps.v1 import StatefulSet

from .kinds import RabbitmqCluster, statefulset_for

controller = Controller(RabbitmqCluster, owns=[StatefulSet])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    cluster = await ctx.get(RabbitmqCluster, request)
    if cluster is None or cluster.is_terminating:
        return
    current = await ctx.get(StatefulSet, request)
    if current is not None and cluster.spec.replicas < (current.spec.replicas or 0):
        cluster.status.message = "scaling down is not supported"
    else:
        await ctx.apply(statefulset_for(cluster), owner=cluster)
        cluster.status.message = ""
    await ctx.update_status(cluster)
