"""The correction: each thing that is to go is looked for by itself, and the cluster is let go when all are gone."""

from setpoint import Context, Controller, Request
from setpoint.k8s.apps.v1 import StatefulSet
from setpoint.k8s.core.v1 import PersistentVolumeClaim

from .kinds import FINALIZER, XtraDBCluster, claim_for, cluster_of, statefulset_for

controller = Controller(XtraDBCluster, name="xtradb", owns=[StatefulSet])
controller.watch(PersistentVolumeClaim, map=cluster_of)


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    cluster = await ctx.get(XtraDBCluster, request)
    if cluster is None:
        return
    statefulset = await ctx.get(StatefulSet, request)
    claim = await ctx.get(PersistentVolumeClaim, claim_for(cluster).key)
    if cluster.is_terminating:
        if statefulset is not None:
            await ctx.delete(statefulset)
        if claim is not None and not claim.is_terminating:
            await ctx.delete(claim)
        if statefulset is None and claim is None:
            await ctx.remove_finalizer(cluster, FINALIZER)
        return
    await ctx.add_finalizer(cluster, FINALIZER)
    if claim is None:
        await ctx.create(claim_for(cluster))
    await ctx.apply(statefulset_for(cluster), owner=cluster)
