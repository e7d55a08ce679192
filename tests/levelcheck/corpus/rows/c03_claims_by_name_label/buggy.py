"""Deletes the claims that carry the cluster's name."""

from setpoint import Context, Controller, Request
from setpoint.k8s.core.v1 import PersistentVolumeClaim

from .kinds import FINALIZER, ZookeeperCluster, claim_for, cluster_of

controller = Controller(ZookeeperCluster, name="zookeeper")
controller.watch(PersistentVolumeClaim, map=cluster_of)


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    cluster = await ctx.get(ZookeeperCluster, request)
    if cluster is None:
        return
    if not cluster.is_terminating:
        await ctx.add_finalizer(cluster, FINALIZER)
        for number in range(cluster.spec.replicas):
            claim = claim_for(cluster, number)
            if await ctx.get(PersistentVolumeClaim, claim.key) is None:
                await ctx.create(claim)
        return
    labels = {"zookeeper": cluster.name}
    claims = await ctx.list(PersistentVolumeClaim, namespace=request.namespace, labels=labels)
    for claim in claims:
        if not claim.is_terminating:
            await ctx.delete(claim)
    if not claims:
        await ctx.remove_finalizer(cluster, FINALIZER)
