"""Deletes the claims of members that are not in the spec that it sees."""

from setpoint import Context, Controller, Request
from setpoint.k8s.core.v1 import PersistentVolumeClaim

from .kinds import ZookeeperCluster, claim_for

controller = Controller(ZookeeperCluster, name="zookeeper", owns=[PersistentVolumeClaim])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    cluster = await ctx.get(ZookeeperCluster, request)
    if cluster is None or cluster.is_terminating:
        return
    wanted = [claim_for(cluster, number) for number in range(cluster.spec.replicas)]
    claims = {claim.name: claim for claim in await ctx.list(PersistentVolumeClaim, namespace=request.namespace, owner=cluster)}
    for claim in wanted:
        if claim.name not in claims:
            await ctx.create(claim, owner=cluster)
    for claim in claims.values():
        if claim.name not in [each.name for each in wanted] and not claim.is_terminating:
            await ctx.delete(claim)
