"""Takes a cluster that its list lacks for one that is gone."""

from setpoint import Context, Controller, Request
from setpoint.k8s.core.v1 import Secret

from .kinds import OWNER, Elasticsearch, credentials_for, owner_of

controller = Controller(Elasticsearch, name="elasticsearch")
controller.watch(Secret, map=owner_of)


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    cluster = await ctx.get(Elasticsearch, request)
    if cluster is None:
        for secret in await ctx.list(Secret, namespace=request.namespace, labels={OWNER: request.name}):
            await ctx.delete(secret)
    elif not cluster.is_terminating and await ctx.get(Secret, credentials_for(cluster).key) is None:
        await ctx.create(credentials_for(cluster))
