"""Pods: live as `lifecycle` has it, and go at once when they are deleted. No container runs.

A pod becomes Ready a moment after it was first seen, unless its annotations say otherwise (`behaviour`). Whoever wants to see what a pod
that fails does to a controller may also set its status: it stays so.

https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/
"""

from __future__ import annotations

from datetime import datetime
from hashlib import blake2b

from setpoint.cluster.controllers.workloads.behaviour import behaviour_of
from setpoint.cluster.controllers.workloads.lifecycle import address, next_step
from setpoint.controller import Context, Controller, Result
from setpoint.k8s.core.v1 import Pod
from setpoint.objects import Index, Request

BY_ADDRESS: Index[Pod] = Index(Pod, lambda pod: [pod.status.pod_ip or ""])


def pod_controller() -> Controller[Pod]:
    """Makes pods run, as a scheduler and a kubelet would."""
    return Controller(Pod, name="pod", indexes=[BY_ADDRESS], reconciler=PodRunner())


class PodRunner:
    """The reconciler.

    It remembers when it first saw each pending pod, since creation times are whole seconds. As with a kubelet that starts again, what is
    forgotten only takes a moment longer.
    """

    def __init__(self) -> None:
        self._seen: dict[Request, tuple[str, datetime]] = {}

    async def __call__(self, ctx: Context, request: Request) -> Result | None:
        """One run: the pod's next step, if it is time for it."""
        pod = await ctx.get(Pod, request)
        if pod is None or pod.is_terminating:
            self._seen.pop(request, None)
            if pod is not None and pod.metadata.deletion_grace_period_seconds:
                await ctx.delete(pod, grace_seconds=0)
            return None
        now, behaviour = ctx.now(), behaviour_of(pod)
        if behaviour.errors:
            ctx.event(pod, "InvalidAnnotation", f"does not count: {'; '.join(behaviour.errors)}", type="Warning")
        uid, seen = self._seen.get(request, ("", now))
        if uid != pod.uid:
            seen = now
        step = next_step(pod, behaviour, seen)
        if step is None or pod.status.phase not in (None, "", "Pending"):
            self._seen.pop(request, None)
        else:
            self._seen[request] = pod.uid, seen
        if step is None:
            return None
        due, change = step
        if due > now:
            return Result(requeue_after=due - now)
        change(pod, now)
        if not pod.status.pod_ip:
            address(pod, await free_address(ctx, pod.uid))
        await ctx.update_status(pod)
        return None


async def free_address(ctx: Context, uid: str) -> str:
    """An address for a pod that no other has, the same at each try as long as it is free."""
    number = int.from_bytes(blake2b(uid.encode(), digest_size=3).digest())
    while await ctx.list(Pod, index=BY_ADDRESS(found := _address(number))):
        number += 1
    return found


def _address(number: int) -> str:
    """One of the addresses of 10.128.0.0/9, which leaves those of services out."""
    return f"10.{128 + (number >> 16) % 128}.{number >> 8 & 255}.{number & 255}"
