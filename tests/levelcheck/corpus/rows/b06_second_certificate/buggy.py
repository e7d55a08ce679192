"""Makes the second certificate only together with the first."""

from setpoint import Context, Controller, Request

from .kinds import Certificate, MongoCluster, certificate_for

controller = Controller(MongoCluster, name="mongo", owns=[Certificate])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    cluster = await ctx.get(MongoCluster, request)
    if cluster is None or cluster.is_terminating:
        return
    external, internal = certificate_for(cluster, "ssl"), certificate_for(cluster, "ssl-internal")
    if await ctx.get(Certificate, external.key) is None:
        await ctx.apply(external, owner=cluster)
        await ctx.apply(internal, owner=cluster)
