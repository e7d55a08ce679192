"""The correction: before the budget is deleted, the server is asked whether that spec still holds."""

from setpoint import Context, Controller, Request
from setpoint.k8s.policy.v1 import PodDisruptionBudget

from .kinds import CassandraCluster, budget_for

controller = Controller(CassandraCluster, name="cassandra", owns=[PodDisruptionBudget])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    cluster = await ctx.get(CassandraCluster, request)
    if cluster is None or cluster.is_terminating:
        return
    wanted = budget_for(cluster)
    budget = await ctx.get(PodDisruptionBudget, request)
    if budget is not None and budget.spec.max_unavailable != wanted.spec.max_unavailable:
        if not await is_current(ctx, cluster):
            return  # the cache is behind, and what comes makes another run
        await ctx.delete(budget)
        budget = None
    if budget is None:
        await ctx.create(wanted, owner=cluster)


async def is_current(ctx: Context, cluster: CassandraCluster) -> bool:
    """Whether the server still wants what was seen."""
    live = await ctx.get(CassandraCluster, cluster.key, live=True)
    return live is not None and (live.uid, live.metadata.generation) == (cluster.uid, cluster.metadata.generation)
