"""The correction: counts say something only where they are of the present spec, and of pods that were updated to it."""

from setpoint import Context, Controller, Request, Result, mappers
from setpoint.k8s.apps.v1 import StatefulSet

from .kinds import READY_CHANGED, M3Cluster, statefulsets_for

controller = Controller(M3Cluster, name="m3")
controller.watch(StatefulSet, map=mappers.to_owner(M3Cluster), predicate=READY_CHANGED)


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> Result | None:
    cluster = await ctx.get(M3Cluster, request)
    if cluster is None or cluster.is_terminating:
        return None
    there = [await ctx.get(StatefulSet, wanted.key) for wanted in statefulsets_for(cluster)]
    moving = next((each.name for each in there if each is not None and not is_rolled_out(each)), None)
    for wanted, before in zip(statefulsets_for(cluster), there, strict=True):
        if moving not in (None, wanted.name):
            continue  # the spec has changed while that one was rolled
        after = await ctx.apply(wanted, owner=cluster)
        if before is None or before.metadata.generation != after.metadata.generation or not is_rolled_out(after):
            return Result(requeue_after=1)  # one at a time: its pods are to be ready first
    return None


def is_rolled_out(statefulset: StatefulSet) -> bool:
    status = statefulset.status
    wanted = statefulset.spec.replicas
    counts = (status.ready_replicas, status.updated_replicas, status.replicas)
    return status.observed_generation == statefulset.metadata.generation and counts == (wanted, wanted, wanted)
