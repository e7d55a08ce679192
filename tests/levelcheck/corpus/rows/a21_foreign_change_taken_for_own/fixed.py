"""The correction: an event is left out only if nothing but the status can have changed since the run read the object."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from setpoint import Context, Controller, Manager, Predicate, Request

from .kinds import Gauge


@asynccontextmanager
async def app(manager: Manager) -> AsyncIterator[None]:
    acted_on: dict[Request, tuple[str | None, int | None]] = {}

    def is_foreign(old: Gauge | None, new: Gauge | None) -> bool:
        return new is None or (new.metadata.uid, new.metadata.generation) != acted_on.get(new.key)

    predicate: Predicate[Gauge] = Predicate(is_foreign)
    controller = Controller(Gauge, predicate=predicate, resync=None)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        gauge = await ctx.get(Gauge, request)
        if gauge is None or gauge.status.level == gauge.spec.level:
            return
        await ctx.patch(Gauge, request, {"status": {"level": gauge.spec.level}}, subresource="status")
        acted_on[request] = (gauge.metadata.uid, gauge.metadata.generation)

    manager.add(controller)
    yield
