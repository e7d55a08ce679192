"""Looks for orphans when it hears that their owner was deleted."""

from setpoint import Context, Controller, Request
from setpoint.k8s.core.v1 import ConfigMap

from .kinds import Tenant, quota_for

controller = Controller(Tenant)


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    tenant = await ctx.get(Tenant, request)
    if tenant is not None:
        if not tenant.is_terminating:
            await ctx.apply(quota_for(tenant))
        return
    for orphan in await ctx.list(ConfigMap, namespace=request.namespace, labels={"tenant": request.name}):
        await ctx.delete(orphan)
