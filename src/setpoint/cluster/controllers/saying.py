"""What a controller finds is written where it is news: most runs find what the last one found, and need not compare it with the cache."""

from __future__ import annotations

from typing import Any, TypeVar

from setpoint.controller import Context
from setpoint.k8s.apps.v1 import DaemonSet, Deployment, ReplicaSet, StatefulSet

Workload = TypeVar("Workload", DaemonSet, Deployment, ReplicaSet, StatefulSet)


async def say_status(ctx: Context, workload: Workload, status: Any) -> Workload:
    """The workload, which is changed in place, with this status: written if that says anything else than the one it has."""
    if status == workload.status:
        return workload
    workload.status = status
    return await ctx.update_status(workload)
