"""The correction: each certificate is looked for by itself."""

from setpoint import Context, Controller, Request

from .kinds import Certificate, MongoCluster, certificate_for

controller = Controller(MongoCluster, name="mongo", owns=[Certificate])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    cluster = await ctx.get(MongoCluster, request)
    if cluster is None or cluster.is_terminating:
        return
    for use in ("ssl", "ssl-internal"):
        await ctx.apply(certificate_for(cluster, use), owner=cluster)
