"""The life of a simulated pod: what its status becomes next, and when. Pure: a pod and the time in, a step out.

Pending, then Running; then, as its `Behaviour` says, ready or not, and ended (Succeeded, Failed) or started over and over. Everything is
read off the pod's status, so it does not matter who has followed the pod until now. A status that somebody else has set stays.

https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TypeAlias

from setpoint.cluster.controllers.workloads.behaviour import Behaviour
from setpoint.k8s.core.v1 import (
    Container,
    ContainerState,
    ContainerStateRunning,
    ContainerStateTerminated,
    ContainerStateWaiting,
    ContainerStatus,
    Pod,
    PodCondition,
    PodIP,
)
from setpoint.objects import whole_seconds

FIRST_DELAY, LONGEST_DELAY = 10.0, 300.0
"""Seconds between two starts of a container that crashes: doubled each time."""
_NOT_READY = "ContainersNotReady"

Change: TypeAlias = Callable[[Pod, datetime], None]
Step: TypeAlias = tuple[datetime, Change]
"""What happens to the pod next, and when."""


def next_step(pod: Pod, behaviour: Behaviour, seen: datetime) -> Step | None:
    """None if nothing is to happen any more. `seen` is when the pod was first seen; its own times are whole seconds."""
    phase = pod.status.phase or "Pending"
    if phase == "Pending":
        return seen + timedelta(seconds=behaviour.ready_after), lambda pod, now: _start(pod, behaviour, now)
    if phase != "Running":
        return None
    if _is_behind(pod):
        return seen, _catch_up
    if behaviour.run_for is not None:
        return _end_or_start(pod, behaviour, behaviour.run_for)
    if not behaviour.never_ready and any(
        condition.type == "Ready" and condition.reason == _NOT_READY for condition in pod.status.conditions
    ):
        return seen, lambda pod, now: _run(pod, now, ready=True)
    return None


def _end_or_start(pod: Pod, behaviour: Behaviour, run_for: float) -> Step | None:
    first = next(iter(pod.status.container_statuses), None)
    if first is None:
        return None
    if first.state.running is not None and (started := first.state.running.started_at) is not None:
        return started + timedelta(seconds=run_for), lambda pod, now: _end(pod, behaviour, now)
    ended = first.last_state.terminated
    if first.state.waiting is None or ended is None or ended.finished_at is None:
        return None
    delay = min(FIRST_DELAY * 2 ** min(first.restart_count, 10), LONGEST_DELAY)
    return ended.finished_at + timedelta(seconds=delay), lambda pod, now: _start_again(pod, now, ready=not _stays_unready(behaviour))


def _stays_unready(behaviour: Behaviour) -> bool:
    return behaviour.never_ready or behaviour.crash_loop


def _start(pod: Pod, behaviour: Behaviour, now: datetime) -> None:
    """It has been scheduled, and has started."""
    moment, status = whole_seconds(now), pod.status
    status.phase = "Running"
    status.start_time = moment
    status.observed_generation = pod.metadata.generation
    running = ContainerState(running=ContainerStateRunning(started_at=moment))
    done = ContainerStateTerminated(exit_code=0, reason="Completed", started_at=moment, finished_at=moment)
    status.container_statuses = [_container(container, running) for container in pod.spec.containers]
    status.init_container_statuses = [
        # With restartPolicy Always it is a sidecar, and goes on.
        _container(container, running if container.restart_policy == "Always" else ContainerState(terminated=done))
        for container in pod.spec.init_containers
    ]
    _run(pod, now, ready=not _stays_unready(behaviour))


def address(pod: Pod, ip: str) -> None:
    """Gives it an address."""
    pod.status.pod_ip = ip
    pod.status.pod_ips = [PodIP(ip=ip)]


def _run(pod: Pod, now: datetime, *, ready: bool) -> None:
    for container in pod.status.container_statuses:
        container.ready = ready
    _set_conditions(pod, now, ready=ready)


def _start_again(pod: Pod, now: datetime, *, ready: bool) -> None:
    for container in pod.status.container_statuses:
        container.state = ContainerState(running=ContainerStateRunning(started_at=whole_seconds(now)))
        container.restart_count += 1
        container.started = True
    _run(pod, now, ready=ready)


def _is_behind(pod: Pod) -> bool:
    """Whether its spec has changed since; not asked of a pod whose status says nothing of that, which somebody else has set."""
    return pod.status.observed_generation is not None and pod.status.observed_generation != pod.metadata.generation


def _catch_up(pod: Pod, now: datetime) -> None:
    """A container whose image is another one now is started anew with it, at once."""
    moment, images = whole_seconds(now), {container.name: container.image or "" for container in pod.spec.containers}
    pod.status.observed_generation = pod.metadata.generation
    for condition in pod.status.conditions:
        condition.observed_generation = pod.metadata.generation
    for container in pod.status.container_statuses:
        image = images.get(container.name, container.image)
        if container.image == image:
            continue
        container.image = image
        if container.state.running is not None:
            began = container.state.running.started_at
            ended = ContainerStateTerminated(exit_code=0, reason="Completed", started_at=began, finished_at=moment)
            container.last_state = ContainerState(terminated=ended)
            container.state = ContainerState(running=ContainerStateRunning(started_at=moment))
            container.restart_count += 1


def _end(pod: Pod, behaviour: Behaviour, now: datetime) -> None:
    """Its containers end: for good, or to be started again, as its restartPolicy says."""
    policy, code = pod.spec.restart_policy or "Always", behaviour.exit_code
    again = policy == "Always" or (policy == "OnFailure" and code != 0)
    for container in pod.status.container_statuses:
        started = container.state.running.started_at if container.state.running is not None else None
        reason = "Completed" if code == 0 else "Error"
        ended = ContainerStateTerminated(exit_code=code, reason=reason, started_at=started, finished_at=whole_seconds(now))
        container.ready = container.started = False
        if again:
            delay = min(FIRST_DELAY * 2 ** min(container.restart_count, 10), LONGEST_DELAY)
            message = (
                f"back-off {_go_duration(delay)} restarting failed container={container.name} pod={pod.name}_{pod.namespace}({pod.uid})"
            )
            container.last_state = ContainerState(terminated=ended)
            container.state = ContainerState(waiting=ContainerStateWaiting(reason="CrashLoopBackOff", message=message))
        else:
            container.state = ContainerState(terminated=ended)
    if not again:
        pod.status.phase = "Succeeded" if code == 0 else "Failed"
    _set_conditions(pod, now, ready=False, completed=not again and code == 0)


def _set_conditions(pod: Pod, now: datetime, *, ready: bool, completed: bool = False) -> None:
    moment, generation = whole_seconds(now), pod.metadata.generation
    before = {condition.type: condition for condition in pod.status.conditions}
    reason = message = None
    if not ready:
        reason = "PodCompleted" if completed else _NOT_READY
        names = " ".join(container.name for container in pod.spec.containers)
        message = None if completed else f"containers with unready status: [{names}]"
    pod.status.conditions = [
        condition
        if (condition := before.get(type)) is not None and type not in ("Ready", "ContainersReady")
        else PodCondition(type=type, status="True", last_transition_time=moment, observed_generation=generation)
        for type in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    ]
    for condition in pod.status.conditions:
        if condition.type in ("Ready", "ContainersReady"):
            condition.status, condition.reason, condition.message = "True" if ready else "False", reason, message
            old = before.get(condition.type)
            if old is not None and old.status == condition.status:
                condition.last_transition_time = old.last_transition_time


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


def _go_duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"
