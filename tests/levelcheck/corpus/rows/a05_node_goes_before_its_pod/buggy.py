"""Takes a pod out of its node's entry, which is assumed to be there."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from setpoint import Context, Controller, Manager, Request
from setpoint.k8s.core.v1 import Node, Pod

PODS = "corpus.example.com/pods"


@asynccontextmanager
async def app(manager: Manager) -> AsyncIterator[None]:
    nodes, pods = Controller(Node, name="nodes", labels="pool=batch"), Controller(Pod, name="pods")
    pods_on: dict[str, dict[Request, None]] = {}  # what decisions about nodes would go by
    node_of: dict[Request, str] = {}

    @nodes.reconciler
    async def node_changed(ctx: Context, request: Request) -> None:
        node = await ctx.get(Node, request)
        if node is None:
            pods_on.pop(request.name, None)
            return
        count = str(sum(pod.spec.node_name == request.name for pod in await ctx.list(Pod)))
        if node.metadata.annotations.get(PODS) != count:
            await ctx.patch(Node, request, {"metadata": {"annotations": {PODS: count}}})

    @pods.reconciler
    async def pod_changed(ctx: Context, request: Request) -> None:
        pod = await ctx.get(Pod, request)
        if request in node_of:
            node = node_of[request]
            del pods_on[node][request]
            del node_of[request]
            manager.trigger(nodes, Request("", node))
        if pod is not None and pod.spec.node_name:
            node_of[request] = node = pod.spec.node_name
            pods_on.setdefault(node, {})[request] = None
            manager.trigger(nodes, Request("", node))

    manager.add(nodes, pods)
    yield
