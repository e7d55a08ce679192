"""The correction: before it scales, the server is asked whether that number still holds."""

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
    elif statefulset.spec.replicas != cluster.spec.count and await is_current(ctx, cluster):
        statefulset.spec.replicas = cluster.spec.count
        await ctx.update(statefulset)


async def is_current(ctx: Context, cluster: Elasticsearch) -> bool:
    """Whether the server still wants what was seen; if not, the cache is behind, and what comes makes another run."""
    live = await ctx.get(Elasticsearch, cluster.key, live=True)
    return live is not None and (live.uid, live.metadata.generation) == (cluster.uid, cluster.metadata.generation)
