"""Marks and deletes the claim in each run, also when that has been done."""

from setpoint import Context, Controller, Request
from setpoint.k8s.core.v1 import PersistentVolumeClaim, Pod

from .kinds import RELEASED, CassandraDatacenter, claim_for, pod_for

controller = Controller(CassandraDatacenter, name="cassandra", owns=[PersistentVolumeClaim, Pod])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    datacentre = await ctx.get(CassandraDatacenter, request)
    if datacentre is None or datacentre.is_terminating:
        return
    claim = await ctx.get(PersistentVolumeClaim, claim_for(datacentre).key)
    if datacentre.spec.leaving:
        if claim is not None:
            claim.metadata.annotations[RELEASED] = ctx.now().isoformat()
            await ctx.update(claim)
            await ctx.delete(claim)
        return
    if claim is None:
        await ctx.create(claim_for(datacentre), owner=datacentre)
    elif claim.is_terminating:
        return
    if await ctx.get(Pod, pod_for(datacentre).key) is None:
        await ctx.create(pod_for(datacentre), owner=datacentre)
