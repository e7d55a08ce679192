"""The controllers of the embedded control plane: ordinary Setpoint controllers that never see the server, only its API.

`garbage` deletes what is owned by nothing any more (`dependents` finds it), `namespaces` empties those that are deleted, `furnishing` gives
each what it needs, and `workloads` makes Deployments come true. The first two look after objects of every kind there is: `kinds` follows
the definitions as they come and go.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from setpoint.cluster.controllers.furnishing import Furnisher
from setpoint.cluster.controllers.garbage import GarbageCollector
from setpoint.cluster.controllers.kinds import Follower, HasObjects, Kind, Kinds, built_in
from setpoint.cluster.controllers.namespaces import NamespaceEmptier
from setpoint.cluster.controllers.workloads import workload_controllers
from setpoint.controller import Reader
from setpoint.manager import Manager
from setpoint.objects import Request


@asynccontextmanager
async def control_plane_controllers(
    manager: Manager, *, workloads: bool = True, root_ca: str = "", has_objects: HasObjects | None = None
) -> AsyncIterator[None]:
    """An app: adds the controllers to a manager. With `workloads=False`, Deployments make no pods.

    `root_ca` is the certificate, as PEM, of the authority that clients trust. Where there is none, namespaces are not furnished.

    With `has_objects`, the garbage collector and the emptier of namespaces watch a built-in kind from its first object on; without, each
    kind from the start.
    """
    kinds = Kinds()
    collector, emptier = GarbageCollector(kinds, manager.client), NamespaceEmptier(manager.client)
    follower = Follower(kinds, manager.cache, manager.scheme)
    following = follower.controller()
    present: list[Kind] = []
    for info in await built_in(manager.client):
        resource = info.group_version_resource
        wake = partial(manager.trigger, following, Request("", resource.group_resource), "there is the first object of a kind")
        kind = follower.start(info, asleep=has_objects is not None and not has_objects(resource, wake))
        if not kind.asleep:
            present.append(kind)
    manager.add(collector.controller(present), emptier.controller(present))
    collecting, emptying = manager.controllers[-2:]
    follower.let_watch(emptying, emptier.watch)
    # Last: it must not hear of objects that it does not find, so a kind wakes as soon as it is watched by the collector.
    follower.let_watch(collecting, collector.watch)

    async def look_at_owned(reader: Reader, kind: Kind) -> None:
        for request in await collector.owned_by_kind(reader, kind):
            collecting.queue.add(request, "its owner's kind is watched now")

    follower.awoken = look_at_owned
    manager.add(following)
    if root_ca:
        manager.add(Furnisher(root_ca).controller())
    if workloads:
        manager.add(*workload_controllers())
    yield
