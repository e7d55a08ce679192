"""The correction: a new list is compared with what is known, so that the nodes that are not in it are forgotten."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.levelcheck.corpus import raw

from setpoint import Context, Controller, Manager, Request, Result
from setpoint.k8s.core.v1 import Node

from .kinds import Task


@asynccontextmanager
async def app(manager: Manager) -> AsyncIterator[None]:
    controller = Controller(Task, name="scheduler")
    nodes: dict[str, None] = {}

    async def follow() -> None:
        async for event in raw.events(manager.client, Node):
            if event.type == "DELETED":
                nodes.pop(event.key.name, None)
            elif event.object is not None and event.object["metadata"].get("labels", {}).get("pool") == "batch":
                nodes[event.key.name] = None

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> Result | None:
        task = await ctx.get(Task, request)
        if task is None or task.status.node:
            return None
        if not nodes:
            return Result(requeue_after=1)
        chosen = min(nodes)
        await ctx.patch(Node, chosen, {"metadata": {"annotations": {f"corpus.example.com/{task.name}": "bound"}}})
        task.status.node = chosen
        await ctx.update_status(task)
        return None

    manager.add(controller)
    async with raw.beside(follow()):
        yield
