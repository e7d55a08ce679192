"""Restarts the pod because of a note that is made after the configuration was written."""

from setpoint import Context, Controller, Request
from setpoint.k8s.core.v1 import ConfigMap, Pod

from .kinds import NifiCluster, config_for, pod_for

controller = Controller(NifiCluster, name="nifi", owns=[ConfigMap, Pod])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    cluster = await ctx.get(NifiCluster, request)
    if cluster is None or cluster.is_terminating:
        return
    config = await ctx.get(ConfigMap, config_for(cluster).key)
    if config is None or config.data != config_for(cluster).data:
        await ctx.apply(config_for(cluster), owner=cluster)
        if config is not None:
            cluster.status.state = "OutOfSync"
            await ctx.update_status(cluster)
    pod = await ctx.get(Pod, pod_for(cluster).key)
    if pod is None:
        await ctx.apply(pod_for(cluster), owner=cluster)
    elif cluster.status.state == "OutOfSync" and not pod.is_terminating:
        await ctx.delete(pod)
    if cluster.status.state != "InSync":
        cluster.status.state = "InSync"
        await ctx.update_status(cluster)
