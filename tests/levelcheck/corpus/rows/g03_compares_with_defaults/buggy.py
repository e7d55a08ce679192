"""Compares all that is there with all that is stated."""

from setpoint import Context, Controller, Request
from setpoint.k8s.apps.v1 import StatefulSet
from setpoint.k8s.core.v1 import Pod
from setpoint.objects import to_builtins

from .kinds import PostgresCluster, labels_of, statefulset_for

controller = Controller(PostgresCluster, name="postgres", owns=[StatefulSet])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    cluster = await ctx.get(PostgresCluster, request)
    if cluster is None or cluster.is_terminating:
        return
    wanted = statefulset_for(cluster)
    found = await ctx.get(StatefulSet, request)
    if found is None:
        await ctx.apply(wanted, owner=cluster)
    elif to_builtins(found.spec) != to_builtins(wanted.spec):
        await ctx.apply(wanted, owner=cluster)
        for pod in await ctx.list(Pod, namespace=cluster.namespace, labels=labels_of(cluster)):
            await ctx.delete(pod)
