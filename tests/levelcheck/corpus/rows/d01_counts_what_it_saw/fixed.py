"""The correction: each worker has a number and thus a name, so that one that is not seen yet cannot be created again."""

from setpoint import Context, Controller, ObjectMeta, Request
from setpoint.k8s.core.v1 import Pod

from .kinds import RayCluster, worker_of

controller = Controller(RayCluster, name="ray", owns=[Pod])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    cluster = await ctx.get(RayCluster, request)
    if cluster is None or cluster.is_terminating:
        return
    names = [f"{cluster.name}-{number}" for number in range(cluster.spec.workers)]
    for name in names:
        await ctx.apply(worker_of(cluster, ObjectMeta(name=name)), owner=cluster)
    for pod in await ctx.list(Pod, namespace=cluster.namespace, owner=cluster):
        if pod.name not in names:
            await ctx.delete(pod)
    if cluster.status.desired_workers != cluster.spec.workers:
        cluster.status.desired_workers = cluster.spec.workers
        await ctx.update_status(cluster)
