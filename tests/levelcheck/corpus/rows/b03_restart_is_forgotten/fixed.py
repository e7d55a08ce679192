"""The correction: a pod says which configuration it was made for, and one that was made for another is replaced."""

from setpoint import Context, Controller, Request
from setpoint.k8s.core.v1 import ConfigMap, Pod

from .kinds import NifiCluster, config_for, pod_for

CONFIG = "corpus.example.com/config"

controller = Controller(NifiCluster, name="nifi", owns=[ConfigMap, Pod])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    cluster = await ctx.get(NifiCluster, request)
    if cluster is None or cluster.is_terminating:
        return
    await ctx.apply(config_for(cluster), owner=cluster)
    wanted = pod_for(cluster)
    wanted.metadata.annotations[CONFIG] = cluster.spec.config
    pod = await ctx.get(Pod, wanted.key)
    if pod is None:
        await ctx.apply(wanted, owner=cluster)
    elif pod.metadata.annotations.get(CONFIG) != cluster.spec.config and not pod.is_terminating:
        await ctx.delete(pod)
    if cluster.status.state != "InSync":
        cluster.status.state = "InSync"
        await ctx.update_status(cluster)
