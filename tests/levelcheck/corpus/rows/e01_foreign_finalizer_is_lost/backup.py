"""The environment: another controller, which protects each cluster by a finalizer, once."""

from setpoint import Context, Controller, Request

from .kinds import BACKUP, PROTECTED, Cluster

controller = Controller(Cluster, name="backup")


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    cluster = await ctx.get(Cluster, request)
    if cluster is None:
        return
    if cluster.is_terminating:
        await ctx.remove_finalizer(cluster, BACKUP)
    elif PROTECTED not in cluster.metadata.annotations:
        cluster.metadata.annotations[PROTECTED] = "true"
        cluster.metadata.finalizers.append(BACKUP)
        await ctx.update(cluster)
