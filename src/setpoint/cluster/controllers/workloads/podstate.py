"""What those who own a pod want to know of it."""

from __future__ import annotations

from datetime import datetime, timedelta

from setpoint.k8s.core.v1 import Pod


def is_active(pod: Pod) -> bool:
    """Whether it counts as a replica: it neither is on its way out nor has ended."""
    return not pod.is_terminating and not has_ended(pod)


def has_ended(pod: Pod) -> bool:
    """Whether its containers have ended, and are not started again."""
    return pod.status.phase in ("Succeeded", "Failed")


def is_ready(pod: Pod) -> bool:
    """Whether its condition Ready holds."""
    return any(condition.type == "Ready" and condition.status == "True" for condition in pod.status.conditions)


def available_at(pod: Pod, min_ready_seconds: int) -> datetime | None:
    """When it has been ready long enough to count as available; None if it is not ready."""
    ready = next((condition for condition in pod.status.conditions if condition.type == "Ready"), None)
    if ready is None or ready.status != "True" or ready.last_transition_time is None:
        return None
    return ready.last_transition_time + timedelta(seconds=min_ready_seconds)


def disposability(pod: Pod) -> tuple[bool, float, str]:
    """Sorts pods by which goes first when there are too many: one that is not ready, then the youngest."""
    created = pod.metadata.creation_timestamp
    return is_ready(pod), -created.timestamp() if created is not None else 0.0, pod.name
