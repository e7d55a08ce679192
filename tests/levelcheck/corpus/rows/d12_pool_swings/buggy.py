"""Counts what is ready, creates a few at a time, and deletes all at once."""

from setpoint import Context, Controller, Request, mappers
from setpoint.k8s.core.v1 import Pod

from .kinds import COME_OR_GONE, Pool, is_ready, pod_for

STEP = 2
"""So many are created at a time at most."""

controller = Controller(Pool, name="pool")
controller.watch(Pod, map=mappers.to_owner(Pool), predicate=COME_OR_GONE)


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    pool = await ctx.get(Pool, request)
    if pool is None or pool.is_terminating:
        return
    pods = await ctx.list(Pod, namespace=pool.namespace, owner=pool)
    idle = [pod for pod in pods if is_ready(pod)]
    if len(idle) < pool.spec.ready:
        for _ in range(min(STEP, pool.spec.ready - len(idle))):
            await ctx.create(pod_for(pool), owner=pool)
    elif len(idle) > pool.spec.ready:
        for pod in idle:
            await ctx.delete(pod)
