"""The correction: the key is taken from the event, which always has one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.levelcheck.corpus import raw

from setpoint import Context, Controller, Manager, Request
from setpoint.k8s.core.v1 import ConfigMap

from .kinds import Zone, config_for


def zone_of(records: ConfigMap) -> list[Request]:
    return [Request(records.namespace, records.metadata.labels["zone"])]


@asynccontextmanager
async def app(manager: Manager) -> AsyncIterator[None]:
    controller = Controller(Zone, predicate=raw.UNHEARD, resync=None)
    controller.watch(ConfigMap, labels="zone", map=zone_of)

    async def follow() -> None:
        async for event in raw.events(manager.client, Zone, gap="tombstones"):
            manager.trigger(controller, event.key)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        zone = await ctx.get(Zone, request, live=True)
        if zone is not None:
            await ctx.apply(config_for(zone))
            return
        for records in await ctx.list(ConfigMap, namespace=request.namespace, labels={"zone": request.name}):
            await ctx.delete(records)

    manager.add(controller)
    async with raw.beside(follow()):
        yield
