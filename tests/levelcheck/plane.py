"""The cluster's own controllers as a program that can be checked like any other: what a control plane runs, in processes that may die.

They watch the kinds that the workloads here come to; the others have no objects, and are not watched.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from setpoint.cluster.controllers import control_plane_controllers
from setpoint.manager import Manager

PRESENT = (
    "configmaps",
    "controllerrevisions.apps",
    "deployments.apps",
    "jobs.batch",
    "namespaces",
    "persistentvolumeclaims",
    "pods",
    "replicasets.apps",
    "statefulsets.apps",
)


@asynccontextmanager
async def controllers(manager: Manager) -> AsyncIterator[None]:
    """All of them."""
    async with control_plane_controllers(manager, has_objects=lambda resource, wake: resource.group_resource in PRESENT):
        yield
