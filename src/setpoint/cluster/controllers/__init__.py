"""The controllers of the embedded control plane: ordinary Setpoint controllers that never see the server, only its API."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from setpoint.manager import Manager


@asynccontextmanager
async def control_plane_controllers(manager: Manager, *, workloads: bool = True) -> AsyncIterator[None]:
    """An app: adds the controllers to a manager."""
    yield
