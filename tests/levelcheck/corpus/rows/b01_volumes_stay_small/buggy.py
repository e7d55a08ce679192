"""Enlarges the claims only where it has just deleted a StatefulSet of the old size."""

from setpoint import Context, Controller, Request
from setpoint.k8s.apps.v1 import StatefulSet
from setpoint.k8s.core.v1 import PersistentVolumeClaim

from .kinds import RabbitmqCluster, cluster_of, size_of, statefulset_for

controller = Controller(RabbitmqCluster, name="rabbitmq", owns=[StatefulSet])
controller.watch(PersistentVolumeClaim, map=cluster_of)


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    cluster = await ctx.get(RabbitmqCluster, request)
    if cluster is None or cluster.is_terminating:
        return
    statefulset = await ctx.get(StatefulSet, request)
    if statefulset is None:
        await ctx.apply(statefulset_for(cluster), owner=cluster)
    elif not statefulset.is_terminating and size_of(statefulset.spec.volume_claim_templates[0]) < cluster.spec.storage:
        await ctx.delete(statefulset, propagation="Orphan")  # its pods stay; it is made anew as soon as it is gone
        for claim in await ctx.list(PersistentVolumeClaim, namespace=request.namespace, labels={"rabbitmq": request.name}):
            claim.spec.resources.requests["storage"] = cluster.spec.storage
            await ctx.update(claim)
