"""The correction: where there are to be no servers yet, there is nobody to be told."""

from setpoint import Context, Controller, Request
from setpoint.k8s.apps.v1 import StatefulSet

from .kinds import ZookeeperCluster, statefulset_for

controller = Controller(ZookeeperCluster, name="zookeeper", owns=[StatefulSet])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    cluster = await ctx.get(ZookeeperCluster, request)
    if cluster is None or cluster.is_terminating:
        return
    statefulset = await ctx.get(StatefulSet, request)
    if statefulset is not None and statefulset.spec.replicas not in (0, cluster.spec.replicas):
        tell_servers(statefulset)
    await ctx.apply(statefulset_for(cluster), owner=cluster)


def tell_servers(statefulset: StatefulSet) -> None:
    """Tells them how many they are to be."""
    if not statefulset.status.ready_replicas:
        raise ConnectionError("no server of the ensemble answers")
