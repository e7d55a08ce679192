"""The correction: what is stated is applied, so that only what is stated counts; pods are replaced as the StatefulSet does it."""

from setpoint import Context, Controller, Request
from setpoint.k8s.apps.v1 import StatefulSet

from .kinds import PostgresCluster, statefulset_for

controller = Controller(PostgresCluster, name="postgres", owns=[StatefulSet])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    cluster = await ctx.get(PostgresCluster, request)
    if cluster is None or cluster.is_terminating:
        return
    await ctx.apply(statefulset_for(cluster), owner=cluster)
