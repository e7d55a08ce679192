"""The correction: the pods of a node are counted anew each time."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from setpoint import Context, Controller, Manager, Request
from setpoint.k8s.core.v1 import Node, Pod

USED = "corpus.example.com/used"


@asynccontextmanager
async def app(manager: Manager) -> AsyncIterator[None]:
    controller = Controller(Node, name="totals", labels="pool=batch")

    @controller.watch(Pod)
    def node_of(pod: Pod) -> list[Request]:
        return [Request("", pod.spec.node_name)] if pod.spec.node_name else []

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        node = await ctx.get(Node, request)
        total = str(sum(pod.spec.node_name == request.name for pod in await ctx.list(Pod)))
        if node is not None and node.metadata.annotations.get(USED) != total:
            await ctx.patch(Node, request, {"metadata": {"annotations": {USED: total}}})

    manager.add(controller)
    yield
