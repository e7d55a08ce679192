"""Counts the pods of each node up and down, by events of which the watch loses deletions where it has to list anew."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.levelcheck.corpus import raw

from setpoint import Context, Controller, Manager, Request
from setpoint.k8s.core.v1 import Node, Pod

USED = "corpus.example.com/used"


@asynccontextmanager
async def app(manager: Manager) -> AsyncIterator[None]:
    controller = Controller(Node, name="totals", labels="pool=batch")
    used: dict[str, int] = {}
    synced = asyncio.Event()

    async def follow() -> None:
        async for event in raw.events(manager.client, Pod, gap="deletions-lost", synced=synced):
            node = event.object["spec"].get("nodeName") if event.object is not None else None
            if node is not None and event.type != "MODIFIED":
                used[node] = used.get(node, 0) + (1 if event.type == "ADDED" else -1)
                manager.trigger(controller, Request("", node))

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        await synced.wait()
        node = await ctx.get(Node, request)
        total = str(used.get(request.name, 0))
        if node is not None and node.metadata.annotations.get(USED) != total:
            await ctx.patch(Node, request, {"metadata": {"annotations": {USED: total}}})

    manager.add(controller)
    async with raw.beside(follow()):
        yield
