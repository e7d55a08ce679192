"""Watches its pods, and not its claims."""

from setpoint import Context, Controller, Request
from setpoint.k8s.core.v1 import PersistentVolumeClaim, Pod

from .kinds import Postgres, claim_for, pod_for

controller = Controller(Postgres, owns=[Pod], resync=None)


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    cluster = await ctx.get(Postgres, request)
    if cluster is None or cluster.is_terminating:
        return
    if await ctx.get(PersistentVolumeClaim, request) is None:
        await ctx.create(claim_for(cluster), owner=cluster)
    await ctx.apply(pod_for(cluster), owner=cluster)
