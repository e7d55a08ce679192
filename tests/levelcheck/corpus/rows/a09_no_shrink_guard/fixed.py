"""The correction: as many replicas as are wanted, whatever there was before."""

from setpoint import Context, Controller, Request
from setpoint.k8s.apps.v1 import StatefulSet

from .kinds import RabbitmqCluster, statefulset_for

controller = Controller(RabbitmqCluster, owns=[StatefulSet])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    cluster = await ctx.get(RabbitmqCluster, request)
    if cluster is None or cluster.is_terminating:
        return
    await ctx.apply(statefulset_for(cluster), owner=cluster)
    cluster.status.message = ""
    await ctx.update_status(cluster)
