"""The environment: somebody who stops a node's pod a while after its claim has been deleted."""

from datetime import timedelta

from setpoint import Context, Controller, Request, Result
from setpoint.k8s.core.v1 import PersistentVolumeClaim, Pod

from .kinds import CassandraDatacenter, claim_for, pod_for

DRAINED = timedelta(seconds=10)

controller = Controller(CassandraDatacenter, name="drain")
controller.watch(PersistentVolumeClaim, map=lambda claim: [Request(claim.namespace, claim.name.removesuffix("-0"))])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> Result | None:
    datacentre = await ctx.get(CassandraDatacenter, request)
    if datacentre is None:
        return None
    claim, pod = await ctx.get(PersistentVolumeClaim, claim_for(datacentre).key), await ctx.get(Pod, pod_for(datacentre).key)
    if claim is None or claim.metadata.deletion_timestamp is None or pod is None:
        return None
    left = claim.metadata.deletion_timestamp + DRAINED - ctx.now()
    if left > timedelta():
        return Result(requeue_after=left)
    await ctx.delete(pod)
    return None
