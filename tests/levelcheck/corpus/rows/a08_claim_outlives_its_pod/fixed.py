"""The correction: a claim is deleted because no member is to have its number, and none has it any more, whatever was seen of its end."""

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
    labels = {"datacentre": request.name}
    members = [ordinal(pod) for pod in await ctx.list(Pod, namespace=request.namespace, labels=labels)]
    for claim in await ctx.list(PersistentVolumeClaim, namespace=request.namespace, labels=labels):
        if ordinal(claim) >= datacentre.spec.nodes and ordinal(claim) not in members and not claim.is_terminating:
            await ctx.delete(claim)
