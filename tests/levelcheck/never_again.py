"""A program that cannot start any more once it has made its ConfigMap: for the tests of the level checker."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.levelcheck.boxes import controller

from setpoint.k8s.core.v1 import ConfigMap
from setpoint.manager import Manager


@asynccontextmanager
async def app(manager: Manager) -> AsyncIterator[None]:
    """Refuses to start where there is something already."""
    if [each for each in await manager.client.list(ConfigMap, namespace="default") if each.name == "a"]:
        raise RuntimeError("somebody was here before")
    manager.add(controller)
    yield
