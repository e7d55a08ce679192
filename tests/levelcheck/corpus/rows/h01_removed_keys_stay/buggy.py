"""Adds what is wanted to what is there."""

from setpoint import Context, Controller, Request
from setpoint.k8s.core.v1 import Service

from .kinds import RabbitmqCluster, service_for

controller = Controller(RabbitmqCluster, name="rabbitmq", owns=[Service])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    cluster = await ctx.get(RabbitmqCluster, request)
    if cluster is None or cluster.is_terminating:
        return
    service = await ctx.get(Service, request)
    if service is None:
        await ctx.create(service_for(cluster), owner=cluster)
    else:
        service.metadata.annotations |= cluster.spec.annotations
        await ctx.update(service)
