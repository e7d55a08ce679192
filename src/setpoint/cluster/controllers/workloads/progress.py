"""Whether a Deployment's rollout gets on: its condition Progressing. Pure.

It has a deadline that moves with each replica that comes or goes. A rollout that is complete stays so, whatever becomes of its pods, until
there is another template.

https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#deployment-status
"""

from __future__ import annotations

from datetime import datetime, timedelta

from setpoint.k8s.apps.v1 import Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet
from setpoint.objects import whole_seconds

PROGRESSING = "Progressing"
_COMPLETE, _TIMED_OUT = "NewReplicaSetAvailable", "ProgressDeadlineExceeded"
_STANDING = (_COMPLETE, _TIMED_OUT, "DeploymentPaused")
"""Reasons with which no deadline runs."""


def present(deployment: Deployment) -> DeploymentCondition | None:
    """The condition as it stands."""
    return next((condition for condition in deployment.status.conditions if condition.type == PROGRESSING), None)


def progress(deployment: Deployment, new: ReplicaSet | None, status: DeploymentStatus, now: datetime) -> DeploymentCondition:
    """The condition as it should be now, with `status` the numbers that are about to be told, and `new` the present template's."""
    before, moment = present(deployment), whole_seconds(now)
    if new is None or deployment.spec.paused:
        return _condition("Unknown", "DeploymentPaused", "Deployment is paused", moment, before)
    desired = 1 if deployment.spec.replicas is None else deployment.spec.replicas
    updated, total, available = status.updated_replicas or 0, status.replicas or 0, status.available_replicas or 0
    if updated == total == available == desired:
        return _condition("True", _COMPLETE, f'ReplicaSet "{new.name}" has successfully progressed.', moment, before)
    if before is not None and before.reason == _COMPLETE and updated == total and _is_about(before, new):
        return before
    if before is None or not _is_about(before, new):
        return _condition("True", "NewReplicaSetCreated", f'Created new replica set "{new.name}"', moment, before)
    if _gets_on(deployment.status, status):
        return _condition("True", "ReplicaSetUpdated", f'ReplicaSet "{new.name}" is progressing.', moment, before, moved=True)
    due = deadline(deployment, before)
    if due is not None and now >= due:
        return _condition("False", _TIMED_OUT, f'ReplicaSet "{new.name}" has timed out progressing.', moment, before)
    return before


def deadline(deployment: Deployment, condition: DeploymentCondition | None) -> datetime | None:
    """When the rollout will have taken too long; None if no deadline runs."""
    seconds = deployment.spec.progress_deadline_seconds
    if seconds is None or condition is None or condition.reason in _STANDING or condition.last_update_time is None:
        return None
    return condition.last_update_time + timedelta(seconds=seconds)


def _is_about(condition: DeploymentCondition, new: ReplicaSet) -> bool:
    return f'"{new.name}"' in (condition.message or "")


def _gets_on(was: DeploymentStatus, now: DeploymentStatus) -> bool:
    def old(status: DeploymentStatus) -> int:
        return (status.replicas or 0) - (status.updated_replicas or 0)

    return (
        (now.updated_replicas or 0) > (was.updated_replicas or 0)
        or old(now) < old(was)
        or (now.ready_replicas or 0) > (was.ready_replicas or 0)
        or (now.available_replicas or 0) > (was.available_replicas or 0)
    )


def _condition(
    status: str, reason: str, message: str, moment: datetime, before: DeploymentCondition | None, *, moved: bool = False
) -> DeploymentCondition:
    if before is not None and (before.status, before.reason, before.message) == (status, reason, message) and not moved:
        return before
    transition = before.last_transition_time if before is not None and before.status == status else moment
    return DeploymentCondition(
        type=PROGRESSING, status=status, reason=reason, message=message, last_update_time=moment, last_transition_time=transition
    )
