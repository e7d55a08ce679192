"""Scales to the number that it sees."""

from setpoint import Context, Controller, Request
from setpoint.k8s.apps.v1 import StatefulSet

from .kinds import Elasticsearch, statefulset_for

controller = Controller(Elasticsearch, name="elasticsearch", owns=[StatefulSet])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    cluster = await ctx.get(Elasticsearch, request)
    if cluster is None or cluster.is_terminating:
        return
    statefulset = await ctx.get(StatefulSet, request)
    if statefulset is None:
        await ctx.create(statefulset_for(cluster), owner=cluster)
    elif statefulset.spec.replicas != cluster.spec.count:
        statefulset.spec.replicas = cluster.spec.count
        await ctx.update(statefulset)
