"""The controllers of the embedded control plane: ordinary Setpoint controllers that never see the server, only its API.

`workloads` makes Deployments come true.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from setpoint.cluster.controllers.workloads import workload_controllers
from setpoint.manager import Manager


@asynccontextmanager
async def control_plane_controllers(manager: Manager, *, workloads: bool = True) -> AsyncIterator[None]:
    """An app: adds the controllers to a manager. With `workloads=False`, Deployments make no pods."""
    if workloads:
        manager.add(*workload_controllers())
    yield
