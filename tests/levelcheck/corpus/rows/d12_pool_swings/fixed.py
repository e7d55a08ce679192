"""The correction: pods that are about to start count too, and no more is deleted than is too much, what is not ready first."""

from setpoint import Context, Controller, Request, mappers
from setpoint.k8s.core.v1 import Pod

from .kinds import COME_OR_GONE, Pool, is_ready, pod_for

controller = Controller(Pool, name="pool")
controller.watch(Pod, map=mappers.to_owner(Pool), predicate=COME_OR_GONE)


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    pool = await ctx.get(Pool, request)
    if pool is None or pool.is_terminating:
        return
    pods = await ctx.list(Pod, namespace=pool.namespace, owner=pool)
    pods = sorted((pod for pod in pods if not pod.is_terminating), key=is_ready)
    for _ in range(pool.spec.ready - len(pods)):
        await ctx.create(pod_for(pool), owner=pool)
    for pod in pods[: max(0, len(pods) - pool.spec.ready)]:
        await ctx.delete(pod)
