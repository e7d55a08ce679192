"""The correction: before a claim is deleted, the server is asked whether that spec still holds."""

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
        if claim.name not in [each.name for each in wanted] and not claim.is_terminating and await is_current(ctx, cluster):
            await ctx.delete(claim)


async def is_current(ctx: Context, cluster: ZookeeperCluster) -> bool:
    """Whether the server still wants what was seen; if not, the cache is behind, and what comes makes another run."""
    live = await ctx.get(ZookeeperCluster, cluster.key, live=True)
    return live is not None and (live.uid, live.metadata.generation) == (cluster.uid, cluster.metadata.generation)
