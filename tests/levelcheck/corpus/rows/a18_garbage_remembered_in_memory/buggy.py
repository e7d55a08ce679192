"""Deletes finished pods, and what they used when they are gone."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from setpoint import Context, Controller, Manager, Request
from setpoint.k8s.core.v1 import ConfigMap, Pod


@asynccontextmanager
async def app(manager: Manager) -> AsyncIterator[None]:
    controller = Controller(Pod, name="tasks", labels="app=task")
    garbage: dict[Request, str] = {}

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        pod = await ctx.get(Pod, request)
        if pod is None:
            if request in garbage:
                await ctx.client.delete(ConfigMap, garbage[request], namespace=request.namespace)
                del garbage[request]
        elif pod.status.phase in ("Succeeded", "Failed"):
            garbage[request] = pod.metadata.annotations["corpus.example.com/program"]
            await ctx.delete(pod)

    manager.add(controller)
    yield
