"""The correction: the claims of members that are scaled away go with them."""

from setpoint import Context, Controller, Request
from setpoint.k8s.apps.v1 import StatefulSet, StatefulSetPersistentVolumeClaimRetentionPolicy

from .kinds import PerconaCluster, statefulset_for

controller = Controller(PerconaCluster, owns=[StatefulSet])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    cluster = await ctx.get(PerconaCluster, request)
    if cluster is not None and not cluster.is_terminating:
        wanted = statefulset_for(cluster)
        retention = StatefulSetPersistentVolumeClaimRetentionPolicy(when_scaled="Delete", when_deleted="Retain")
        wanted.spec.persistent_volume_claim_retention_policy = retention
        await ctx.apply(wanted, owner=cluster)
