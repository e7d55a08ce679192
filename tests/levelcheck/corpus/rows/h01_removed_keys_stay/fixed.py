"""The correction: what is wanted is applied, and what is not stated any more is thereby taken away."""

from setpoint import Context, Controller, Request
from setpoint.k8s.core.v1 import Service

from .kinds import RabbitmqCluster, service_for

controller = Controller(RabbitmqCluster, name="rabbitmq", owns=[Service])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    cluster = await ctx.get(RabbitmqCluster, request)
    if cluster is None or cluster.is_terminating:
        return
    await ctx.apply(service_for(cluster), owner=cluster)
