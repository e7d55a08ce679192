"""The correction: the status of every node that is wanted is completed in every run, whether its pod was there already or not."""

from setpoint import Context, Controller, Request
from setpoint.k8s.core.v1 import Pod

from .kinds import NifiCluster, NodeState, pod_for

controller = Controller(NifiCluster, name="nifi", owns=[Pod])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    cluster = await ctx.get(NifiCluster, request)
    if cluster is None or cluster.is_terminating:
        return
    wanted = [f"{cluster.name}-{number}" for number in range(cluster.spec.nodes)]
    pods = {pod.name: pod for pod in await ctx.list(Pod, namespace=cluster.namespace, owner=cluster)}
    for name in wanted:
        if name not in pods:
            await ctx.apply(pod_for(cluster, name), owner=cluster)
        cluster.status.nodes[name] = NodeState(configuration="InSync", graceful="UpscaleSucceeded")
    for name, pod in pods.items():
        if name not in wanted and not pod.is_terminating:
            cluster.status.nodes[name] = NodeState(configuration="InSync", graceful="UpscaleSucceeded")
            await ctx.delete(pod)
    for name in [name for name in cluster.status.nodes if name not in wanted and name not in pods]:
        del cluster.status.nodes[name]
    await ctx.update_status(cluster)
