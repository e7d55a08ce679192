"""Remembers the names of pods in an attribute of the class."""

from typing import ClassVar

from setpoint import Context, Controller, Request
from setpoint.k8s.core.v1 import Pod

from .kinds import Session, pod_for


class Sessions:
    """Sees to it that each session has its pod, with the image that it wants."""

    pods: ClassVar[dict[str, str]] = {}

    async def __call__(self, ctx: Context, request: Request) -> None:
        session = await ctx.get(Session, request)
        if session is None or session.is_terminating:
            return
        name = self.pods.get(session.uid)
        pod = await ctx.get(Pod, name, namespace=session.namespace) if name else None
        if pod is None:
            pod = await ctx.create(pod_for(session), owner=session)
            self.pods[session.uid] = pod.name
        if pod.spec.containers[0].image != session.spec.image:
            pod.spec.containers[0].image = session.spec.image
            await ctx.update(pod)
        session.status.image = pod.spec.containers[0].image or ""
        await ctx.update_status(session)


controller = Controller(Session, owns=[Pod], reconciler=Sessions())
