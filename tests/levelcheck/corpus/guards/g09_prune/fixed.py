"""A ConfigMap for each queue of a Tenant. What it should have is stated, and what it has beyond that is deleted.

Which those are is asked of the cluster by owner, and remembered nowhere.
"""

from typing import Annotated

from setpoint import Context, Controller, Field, ObjectMeta, Request, Resource, Struct, kind
from setpoint.k8s.core.v1 import ConfigMap


class TenantSpec(Struct):
    queues: Annotated[list[str], Field(list_type="set")] = []


class TenantStatus(Struct):
    queues: int = 0


@kind(group="guards.example.com", version="v1")
class Tenant(Resource[TenantSpec, TenantStatus]):
    """Has queues."""


def queue_for(tenant: Tenant, queue: str) -> ConfigMap:
    return ConfigMap(
        metadata=ObjectMeta(name=f"{tenant.name}-{queue}", namespace=tenant.namespace, labels={"queue": queue}),
        data={"queue": queue, "tenant": tenant.name},
    )


controller = Controller(Tenant, owns=[ConfigMap])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    tenant = await ctx.get(Tenant, request)
    if tenant is None or tenant.is_terminating:
        return
    queues = [await ctx.apply(queue_for(tenant, queue), owner=tenant) for queue in tenant.spec.queues]
    await ctx.prune(ConfigMap, keep=queues, owner=tenant)
    tenant.status.queues = len(queues)
    await ctx.update_status(tenant)
