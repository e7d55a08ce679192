"""The correction: the pod, which names what is to be cleaned up, goes last."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from setpoint import Context, Controller, Manager, Request
from setpoint.k8s.core.v1 import ConfigMap, Pod


@asynccontextmanager
async def app(manager: Manager) -> AsyncIterator[None]:
    controller = Controller(Pod, name="tasks", labels="app=task")

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        pod = await ctx.get(Pod, request)
        if pod is not None and pod.status.phase in ("Succeeded", "Failed"):
            await ctx.client.delete(ConfigMap, pod.metadata.annotations["corpus.example.com/program"], namespace=request.namespace)
            await ctx.delete(pod)

    manager.add(controller)
    yield
