"""Deletes a claim when it sees that its pod is about to go."""

from setpoint import Context, Controller, Request
from setpoint.k8s.apps.v1 import StatefulSet
from setpoint.k8s.core.v1 import PersistentVolumeClaim, Pod

from .kinds import CassandraDataCenter, datacentre_of, ordinal, statefulset_for

controller = Controller(CassandraDataCenter, name="cassandra", owns=[StatefulSet])
controller.watch(Pod, map=datacentre_of)
controller.watch(PersistentVolumeClaim, map=datacentre_of)


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    datacentre = await ctx.get(CassandraDataCenter, request)
    if datacentre is None or datacentre.is_terminating:
        return
    await ctx.apply(statefulset_for(datacentre), owner=datacentre)
    for pod in await ctx.list(Pod, namespace=request.namespace, labels={"datacentre": request.name}):
        if pod.is_terminating and ordinal(pod) >= datacentre.spec.nodes:
            claim = await ctx.get(PersistentVolumeClaim, f"data-{pod.name}", namespace=request.namespace)
            if claim is not None and not claim.is_terminating:
                await ctx.delete(claim)
