"""The correction: its own entry alone is added, to the version that was seen or not at all."""

from setpoint import Context, Controller, Request
from setpoint.k8s.core.v1 import Secret

from .kinds import FINALIZER, Cluster

controller = Controller(Cluster, name="provisioner")
controller.watch(Secret, map=lambda secret: [secret.key])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    cluster = await ctx.get(Cluster, request)
    if cluster is None:
        return
    if cluster.is_terminating:
        await ctx.remove_finalizer(cluster, FINALIZER)
        return
    if await ctx.get(Secret, request) is None:
        return
    await ctx.add_finalizer(cluster, FINALIZER)
    if cluster.status.phase != "Provisioned":
        cluster.status.phase = "Provisioned"
        await ctx.update_status(cluster)
