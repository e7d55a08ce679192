"""Leaves out every event up to the version of its own last write."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from setpoint import Context, Controller, Manager, Predicate, Request

from .kinds import Gauge


@asynccontextmanager
async def app(manager: Manager) -> AsyncIterator[None]:
    under_way: dict[Request, None] = {}
    written: dict[Request, int] = {}

    def is_foreign(old: Gauge | None, new: Gauge | None) -> bool:
        if new is None:
            return True
        return new.key not in under_way and int(new.metadata.resource_version or 0) > written.get(new.key, 0)

    predicate: Predicate[Gauge] = Predicate(is_foreign)
    controller = Controller(Gauge, predicate=predicate, resync=None)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        gauge = await ctx.get(Gauge, request)
        if gauge is None or gauge.status.level == gauge.spec.level:
            return
        under_way[request] = None
        try:
            answer = await ctx.patch(Gauge, request, {"status": {"level": gauge.spec.level}}, subresource="status")
            written[request] = int(answer.metadata.resource_version or 0)
        finally:
            del under_way[request]

    manager.add(controller)
    yield
