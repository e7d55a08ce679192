"""The correction: before anything is deleted, the server is asked whether the cluster is really gone."""

from setpoint import Context, Controller, Request
from setpoint.k8s.core.v1 import Secret

from .kinds import OWNER, Elasticsearch, credentials_for, owner_of

controller = Controller(Elasticsearch, name="elasticsearch")
controller.watch(Secret, map=owner_of)


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    cluster = await ctx.get(Elasticsearch, request)
    if cluster is None:
        if await ctx.get(Elasticsearch, request, live=True) is not None:
            return  # the cache is behind, and what comes makes another run
        for secret in await ctx.list(Secret, namespace=request.namespace, labels={OWNER: request.name}):
            await ctx.delete(secret)
    elif not cluster.is_terminating and await ctx.get(Secret, credentials_for(cluster).key) is None:
        await ctx.create(credentials_for(cluster))
