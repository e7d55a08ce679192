"""Events that a controller records, as the API server takes them and shows them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from setpoint.controller.cluster_events import EventRecorder
from setpoint.controller.said import Said
from setpoint.k8s.core.v1 import ConfigMap, Namespace
from setpoint.k8s.core.v1 import Event as CoreEvent
from setpoint.k8s.events.v1 import Event
from setpoint.objects import ObjectMeta

from .site import Site, contract


class Recording:
    """A recorder on a site, and the tasks that send for it."""

    def __init__(self, site: Site, controller: str = "shop") -> None:
        self._tasks: list[asyncio.Task[None]] = []
        self.recorder = EventRecorder(controller, client=site.client, world=site.world, said=Said(controller), spawn=self._spawn)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.append(task)
        return task

    async def sent(self) -> None:
        await asyncio.gather(*self._tasks)


@contract
async def test_equal_events_are_one_series_in_both_forms(site: Site) -> None:
    recording = Recording(site)
    config = await site.client.create(ConfigMap(metadata=site.meta("shop")))
    for _ in range(2):
        for number in range(500):
            recording.recorder.record(config, "Scaled", f"to {number}", type="Normal", action="Reconcile", related=config)
        await recording.sent()
    await recording.recorder.flush()
    (event,) = await site.client.list(Event, namespace=site.namespace)
    assert event.series is not None
    assert (event.series.count, event.note, event.regarding.uid) == (1000, "to 0", config.metadata.uid)
    (core,) = await site.client.list(CoreEvent, namespace=site.namespace, fields="involvedObject.name=shop,reportingComponent=shop")
    assert core.series is not None
    assert (core.series.count, core.message) == (1000, "to 0")
    resource = "events.events.k8s.io"
    assert site.writes[1:] == [f"create {resource} in {site.namespace}", f"patch {resource} {site.namespace}/{event.name}"]
    assert site.warnings == []


@contract
async def test_the_server_takes_whatever_is_recorded(site: Site) -> None:
    recording = Recording(site, "-odd.name-" + "a" * 100)
    names = ("system:node", "b" * 253)
    for name in names:
        obj = ConfigMap(metadata=site.meta(name, uid=f"uid-{name}"))
        recording.recorder.record(obj, "R" * 200, "ä€" * 1000, type="Warning", action="ö" * 100)
    recording.recorder.record(Namespace(metadata=ObjectMeta(name=site.namespace)), "Seen", "\n", type="Normal", action="Look")
    await recording.sent()
    assert len(await site.client.list(Event, namespace=site.namespace)) == len(names)
    found = await site.client.list(Event, namespace="default", fields=f"regarding.kind=Namespace,regarding.name={site.namespace}")
    assert len(found) == 1


@contract
async def test_an_event_that_the_server_has_forgotten_is_made_again(site: Site) -> None:
    recording = Recording(site)
    config = ConfigMap(metadata=site.meta("shop", uid="uid"))
    recording.recorder.record(config, "Scaled", "", type="Normal", action="Reconcile")
    await recording.sent()
    (event,) = await site.client.list(Event, namespace=site.namespace)
    await site.client.delete(Event, event.name)
    recording.recorder.record(config, "Scaled", "", type="Normal", action="Reconcile")
    await recording.sent()
    (event,) = await site.client.list(Event, namespace=site.namespace)
    assert event.series is not None
    assert event.series.count == 2
