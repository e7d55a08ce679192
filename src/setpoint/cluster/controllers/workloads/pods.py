"""Pods: become Ready a moment after they were first seen, and go at once when they are deleted. No container runs.

Only a pod that is pending is touched. Whoever wants to see what a pod that fails does to a controller sets its status, and it stays so.

https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/
"""

from __future__ import annotations

from datetime import datetime
from hashlib import blake2b

from setpoint.controller import Context, Controller, Result
from setpoint.k8s.core.v1 import (
    Container,
    ContainerState,
    ContainerStateRunning,
    ContainerStateTerminated,
    ContainerStatus,
    Pod,
    PodCondition,
    PodIP,
)
from setpoint.objects import Index, Request, whole_seconds

READY_AFTER = 0.2
"""Seconds from when a pod is first seen until it is Ready."""

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
        """One run."""
        pod = await ctx.get(Pod, request)
        if pod is None or pod.is_terminating or pod.status.phase not in (None, "", "Pending"):
            self._seen.pop(request, None)
            if pod is not None and pod.is_terminating and pod.metadata.deletion_grace_period_seconds:
                await ctx.delete(pod, grace_seconds=0)
            return None
        now = ctx.now()
        uid, since = self._seen.get(request, ("", now))
        if uid != pod.uid:
            since = now
            self._seen[request] = pod.uid, since
        left = READY_AFTER - (now - since).total_seconds()
        if left > 0:
            return Result(requeue_after=left)
        run(pod, await free_address(ctx, pod.uid), now)
        await ctx.update_status(pod)
        return None


async def free_address(ctx: Context, uid: str) -> str:
    """An address for a pod that no other has, the same at each try as long as it is free."""
    number = int.from_bytes(blake2b(uid.encode(), digest_size=3).digest())
    while await ctx.list(Pod, index=BY_ADDRESS(address := _address(number))):
        number += 1
    return address


def _address(number: int) -> str:
    """One of the addresses of 10.128.0.0/9, which leaves those of services out."""
    return f"10.{128 + (number >> 16) % 128}.{number >> 8 & 255}.{number & 255}"


def run(pod: Pod, address: str, now: datetime) -> None:
    """Sets the status of a pod that has been scheduled, has started and is ready."""
    moment = whole_seconds(now)
    status = pod.status
    generation = pod.metadata.generation
    status.phase = "Running"
    status.observed_generation = generation
    status.start_time = moment
    status.pod_ip = address
    status.pod_ips = [PodIP(ip=address)]
    status.conditions = [
        PodCondition(type=type, status="True", last_transition_time=moment, observed_generation=generation)
        for type in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    ]
    running = ContainerState(running=ContainerStateRunning(started_at=moment))
    status.container_statuses = [_container(container, running) for container in pod.spec.containers]
    ended = ContainerStateTerminated(exit_code=0, reason="Completed", started_at=moment, finished_at=moment)
    status.init_container_statuses = [
        # With restartPolicy Always it is a sidecar, and goes on.
        _container(container, running if container.restart_policy == "Always" else ContainerState(terminated=ended))
        for container in pod.spec.init_containers
    ]


def _container(container: Container, state: ContainerState) -> ContainerStatus:
    return ContainerStatus(
        name=container.name,
        image=container.image or "",
        image_id="",
        ready=True,
        started=state.running is not None,
        restart_count=0,
        state=state,
    )
