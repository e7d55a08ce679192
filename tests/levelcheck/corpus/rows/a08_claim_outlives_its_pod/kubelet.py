"""The environment: pods are gone a second after they were marked."""

import asyncio

from setpoint import Context, Controller, Request
from setpoint.k8s.core.v1 import Pod

from .kinds import KUBELET

controller = Controller(Pod, name="kubelet")


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    pod = await ctx.get(Pod, request)
    if pod is not None and pod.is_terminating:
        await asyncio.sleep(1.0)
        await ctx.remove_finalizer(pod, KUBELET)
