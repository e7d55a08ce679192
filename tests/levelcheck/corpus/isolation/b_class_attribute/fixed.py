"""The correction: the pod is looked for among those that the session owns."""

from setpoint import Context, Controller, Request
from setpoint.k8s.core.v1 import Pod

from .kinds import Session, pod_for


class Sessions:
    """Sees to it that each session has its pod, with the image that it wants."""

    async def __call__(self, ctx: Context, request: Request) -> None:
        session = await ctx.get(Session, request)
        if session is None or session.is_terminating:
            return
        pods = [pod for pod in await ctx.list(Pod, owner=session) if not pod.is_terminating]
        pod = pods[0] if pods else await ctx.create(pod_for(session), owner=session)
        if pod.spec.containers[0].image != session.spec.image:
            pod.spec.containers[0].image = session.spec.image
            await ctx.update(pod)
        session.status.image = pod.spec.containers[0].image or ""
        await ctx.update_status(session)


controller = Controller(Session, owns=[Pod], reconciler=Sessions())
