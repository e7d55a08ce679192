"""The correction: before a claim is deleted the server is asked whether the pod that was seen is still the one that has the name."""

from setpoint import Context, Controller, Request
from setpoint.k8s.core.v1 import PersistentVolumeClaim, Pod

from .kinds import FINALIZER, CassandraDataCenter, claim_for, datacentre_of, is_current, pod_for

controller = Controller(CassandraDataCenter, name="cassandra")
controller.watch(Pod, map=datacentre_of)
controller.watch(PersistentVolumeClaim, map=datacentre_of)


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    pods = {pod.name: pod for pod in await ctx.list(Pod, namespace=request.namespace, labels={"datacentre": request.name})}
    for pod in pods.values():
        if pod.is_terminating and FINALIZER in pod.metadata.finalizers:
            await let_go(ctx, pod)
    datacentre = await ctx.get(CassandraDataCenter, request)
    if datacentre is None or datacentre.is_terminating:
        return
    wanted = [pod_for(datacentre, number) for number in range(datacentre.spec.nodes)]
    for number, pod in enumerate(wanted):
        claim = claim_for(datacentre, number)
        if await ctx.get(PersistentVolumeClaim, claim.key) is None:
            await ctx.create(claim, owner=datacentre)
        if pod.name not in pods:
            await ctx.create(pod, owner=datacentre)
    for name, pod in pods.items():
        if name not in [each.name for each in wanted] and not pod.is_terminating and await is_current(ctx, datacentre):
            await ctx.delete(pod)


async def let_go(ctx: Context, pod: Pod) -> None:
    live = await ctx.get(Pod, pod.key, live=True)
    if live is None or live.uid != pod.uid:
        return  # what was seen is long gone, and the claim is its successor's
    labels = {name: pod.metadata.labels[name] for name in ("datacentre-uid", "node")}
    for claim in await ctx.list(PersistentVolumeClaim, namespace=pod.namespace, labels=labels):
        await ctx.delete(claim)
    await ctx.remove_finalizer(pod, FINALIZER)
