"""The correction: after a gap, what the new list shows to have changed is told."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.levelcheck.corpus import raw

from setpoint import Context, Controller, Manager, Request
from setpoint.k8s.core.v1 import ConfigMap

from .kinds import Note, config_for


@asynccontextmanager
async def app(manager: Manager) -> AsyncIterator[None]:
    controller = Controller(Note, owns=[ConfigMap], predicate=raw.UNHEARD, resync=None)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        note = await ctx.get(Note, request, live=True)
        if note is not None and not note.is_terminating:
            await ctx.apply(config_for(note), owner=note)

    manager.add(controller)
    async with raw.beside(raw.feed(manager, controller, Note)):
        yield
