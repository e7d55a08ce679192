"""Creates as many pods as the cache lacks, under names that nobody can foresee."""

from setpoint import Context, Controller, ObjectMeta, Request
from setpoint.k8s.core.v1 import Pod

from .kinds import RayCluster, worker_of

controller = Controller(RayCluster, name="ray", owns=[Pod])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    cluster = await ctx.get(RayCluster, request)
    if cluster is None or cluster.is_terminating:
        return
    pods = await ctx.list(Pod, namespace=cluster.namespace, owner=cluster)
    for _ in range(cluster.spec.workers - len(pods)):
        await ctx.create(worker_of(cluster, ObjectMeta(generate_name=f"{cluster.name}-")), owner=cluster)
    for pod in pods[cluster.spec.workers :]:
        await ctx.delete(pod)
    if cluster.status.desired_workers != cluster.spec.workers:
        cluster.status.desired_workers = cluster.spec.workers
        await ctx.update_status(cluster)
