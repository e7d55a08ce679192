"""Takes a tenant that the cache lacks for one that is gone."""

from collections.abc import Iterable

from setpoint import Context, Controller, Reader, Request

from .kinds import Grant, Tenant

controller = Controller(Grant, name="collector")


@controller.watch(Tenant)
async def grants_of(tenant: Tenant, reader: Reader) -> Iterable[Request]:
    return [grant.key for grant in await reader.list(Grant, namespace=tenant.namespace) if grant.spec.tenant == tenant.name]


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    grant = await ctx.get(Grant, request)
    if grant is None or grant.is_terminating:
        return
    if await ctx.get(Tenant, grant.spec.tenant, namespace=grant.namespace) is not None:
        return
    await ctx.delete(grant)
