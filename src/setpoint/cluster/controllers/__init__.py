"""The controllers of the embedded control plane: ordinary Setpoint controllers that never see the server, only its API.

`garbage` deletes what is owned by nothing any more (`dependents` finds it), `namespaces` empties those that are deleted, `furnishing` gives
each what it needs, and `workloads` makes Deployments come true. The first two look after objects of every kind there is: `kinds` follows
the definitions as they come and go.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from setpoint.cluster.controllers.furnishing import Furnisher
from setpoint.cluster.controllers.garbage import GarbageCollector
from setpoint.cluster.controllers.kinds import Follower, Kinds, built_in
from setpoint.cluster.controllers.namespaces import NamespaceEmptier
from setpoint.cluster.controllers.workloads import workload_controllers
from setpoint.manager import Manager


@asynccontextmanager
async def control_plane_controllers(manager: Manager, *, workloads: bool = True, root_ca: str = "") -> AsyncIterator[None]:
    """An app: adds the controllers to a manager. With `workloads=False`, Deployments make no pods.

    `root_ca` is the certificate, as PEM, of the authority that clients trust. Where there is none, namespaces are not furnished.
    """
    kinds = Kinds()
    collector, emptier = GarbageCollector(kinds, manager.client), NamespaceEmptier(manager.client)
    follower = Follower(kinds, manager.cache, manager.scheme)
    present = await built_in(manager.client, manager.scheme)
    for kind in present:
        kinds.add(kind)
    for controller, watcher in (
        (collector.controller(present), collector.watch),
        (emptier.controller(present), emptier.watch),
    ):
        manager.add(controller)
        follower.let_watch(manager.controllers[-1], watcher)
    manager.add(follower.controller())
    if root_ca:
        manager.add(Furnisher(root_ca).controller())
    if workloads:
        manager.add(*workload_controllers())
    yield
