"""Keeps the larger of what is wanted and what there is."""

from setpoint import Context, Controller, Request
from setpoint.k8s.apps.v1 import StatefulSet

from .kinds import YBCluster, statefulset_for

controller = Controller(YBCluster, owns=[StatefulSet])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    cluster = await ctx.get(YBCluster, request)
    if cluster is None or cluster.is_terminating:
        return
    current, wanted = await ctx.get(StatefulSet, request), statefulset_for(cluster)
    if current is not None:
        wanted.spec.replicas = max(current.spec.replicas or 0, cluster.spec.replicas)
    await ctx.apply(wanted, owner=cluster)
    cluster.status.tservers = wanted.spec.replicas or 0
    await ctx.update_status(cluster)
