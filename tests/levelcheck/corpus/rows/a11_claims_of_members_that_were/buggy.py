"""Leaves the claims of members that were scaled away."""

from setpoint import Context, Controller, Request
from setpoint.k8s.apps.v1 import StatefulSet

from .kinds import PerconaCluster, statefulset_for

controller = Controller(PerconaCluster, owns=[StatefulSet])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    cluster = await ctx.get(PerconaCluster, request)
    if cluster is not None and not cluster.is_terminating:
        await ctx.apply(statefulset_for(cluster), owner=cluster)
