"""Replaces the budget by the one of the spec that it sees."""

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
        await ctx.delete(budget)
        budget = None
    if budget is None:
        await ctx.create(wanted, owner=cluster)
