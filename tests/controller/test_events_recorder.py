"""Events are sent beside runs, as series, within bounds, and never worth a failed run."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import msgspec
import pytest

from setpoint import Context, Controller, Request
from setpoint.api import Answer, NotSent, Operation, Outcome
from setpoint.api.status import StatusCause, failure, forbidden
from setpoint.client import Client, Connection
from setpoint.cluster import ControlPlane
from setpoint.controller.cluster_events import BURST, EVENTS, REFILL, SERIES_ENDS, SERIES_KEPT, EventRecorder, Sieve
from setpoint.controller.event_series import cut, event_name, reporter
from setpoint.controller.said import Said
from setpoint.k8s.core.v1 import ConfigMap, Namespace
from setpoint.k8s.core.v1 import Event as CoreEvent
from setpoint.k8s.events.v1 import Event
from setpoint.manager import Manager
from setpoint.objects import ObjectMeta, Untyped
from setpoint.world import World, simulate

Mischief = Callable[[Operation], Outcome | None]


class Line:
    """A way to the embedded server that keeps what was sent, and answers itself where it is told to."""

    def __init__(self, plane: ControlPlane) -> None:
        self.transport = plane.transport()
        self.sent: list[Operation] = []
        self.mischief: Mischief = lambda operation: None
        self.slow = 0.0
        self.at_once = self.most_at_once = 0

    @property
    def verbs(self) -> list[str]:
        return [operation.verb for operation in self.sent]

    async def send(self, operation: Operation, /) -> Outcome:
        if operation.resource == EVENTS and operation.verb in ("create", "patch"):
            self.sent.append(operation)
            if (outcome := self.mischief(operation)) is not None:
                return outcome
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            await asyncio.sleep(self.slow)
            self.at_once -= 1
        return await self.transport.send(operation)

    async def close(self) -> None:
        await self.transport.close()


class Rig:
    """A recorder against the embedded server."""

    def __init__(self, world: World, line: Line) -> None:
        self.world, self.line = world, line
        self.connection = Connection(line, world)
        self.client = Client(self.connection)
        self.tasks: list[asyncio.Task[None]] = []
        self.recorder = EventRecorder("shop", client=self.client, world=world, said=Said("shop"), spawn=self._spawn)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        self.tasks.append(asyncio.get_running_loop().create_task(work))
        return self.tasks[-1]

    def tell(self, name: str = "a", reason: str = "Scaled", note: str = "to three", **more: Any) -> None:
        more = {"type": "Normal", "action": "Reconcile", **more}
        self.recorder.record(ConfigMap(metadata=ObjectMeta(name=name, namespace="default", uid=f"uid-{name}")), reason, note, **more)

    async def told(self) -> list[Event]:
        return await self.client.list(Event)

    async def sent(self) -> None:
        """Until nothing is on its way."""
        await asyncio.gather(*self.tasks)


def rigged(test: Callable[[Rig], Awaitable[None]]) -> Callable[[], None]:
    def run() -> None:
        async def main(world: World) -> None:
            async with ControlPlane(world, controllers=False) as plane:
                await test(Rig(world, Line(plane)))

        simulate(main)

    run.__name__ = test.__name__
    return run


@rigged
async def test_an_event_has_all_that_the_api_asks_for(rig: Rig) -> None:
    rig.tell()
    await rig.sent()
    (event,) = await rig.told()
    assert event.namespace == "default"
    assert (event.reason, event.note, event.type, event.action) == ("Scaled", "to three", "Normal", "Reconcile")
    assert (event.reporting_controller, event.reporting_instance) == ("shop", "simulated")
    assert event.regarding.uid == "uid-a"
    assert event.series is None
    assert event.event_time == rig.world.clock.now()
    (core,) = await rig.client.list(CoreEvent)
    assert (core.message, core.involved_object.name) == ("to three", "a")


@rigged
async def test_a_thousand_equal_events_are_one_object_and_a_few_requests(rig: Rig) -> None:
    for _ in range(1000):
        rig.tell()
        await asyncio.sleep(0)
    await asyncio.sleep(15)
    (event,) = await rig.told()
    assert event.series is not None
    assert event.series.count == 1000
    assert rig.line.verbs[0] == "create"
    assert len(rig.line.verbs) <= 3
    assert rig.line.verbs.count("create") == 1


@rigged
async def test_a_series_that_goes_on_is_brought_up_to_date_ever_more_rarely(rig: Rig) -> None:
    for _ in range(3600):
        rig.tell()
        await asyncio.sleep(1)
    (event,) = await rig.told()
    assert event.series is not None
    assert event.series.count > 1000
    assert 5 < len(rig.line.sent) < 15


@rigged
async def test_a_series_ends_when_nothing_comes_for_a_while_with_its_last_count_told(rig: Rig) -> None:
    rig.tell()
    await asyncio.sleep(1)
    rig.tell()
    rig.tell()
    await asyncio.sleep(SERIES_ENDS + 60)
    (event,) = await rig.told()
    assert event.series is not None
    assert event.series.count == 3
    rig.tell()
    await rig.sent()
    assert len(await rig.told()) == 2


@rigged
async def test_what_differs_in_more_than_its_note_is_another_event(rig: Rig) -> None:
    rig.tell()
    rig.tell(note="to four")
    rig.tell(name="b")
    rig.tell(reason="Failed")
    rig.tell(type="Warning")
    rig.tell(action="Scale")
    rig.tell(related=ConfigMap(metadata=ObjectMeta(name="other", namespace="default")))
    await rig.sent()
    assert len(await rig.told()) == 6


@rigged
async def test_a_series_whose_event_is_gone_is_created_anew(rig: Rig) -> None:
    rig.tell()
    await rig.sent()
    (event,) = await rig.told()
    await rig.client.delete(Event, event.name, namespace="default")
    rig.tell()
    await rig.sent()
    (event,) = await rig.told()
    assert event.series is not None
    assert event.series.count == 2
    assert rig.line.verbs == ["create", "patch", "create"]


@rigged
async def test_an_object_with_too_much_to_tell_is_cut_short_and_others_are_not(rig: Rig) -> None:
    for number in range(100):
        rig.tell(reason=f"Reason{number}")
    rig.tell(name="b")
    await rig.sent()
    assert len(await rig.told()) == BURST + 1
    await asyncio.sleep(REFILL)
    for number in range(100):
        rig.tell(reason=f"Other{number}")
    await rig.sent()
    assert len(await rig.told()) == BURST + 2


def test_the_sieve_remembers_a_bounded_number_of_objects() -> None:
    sieve = Sieve(lambda: 0.0)
    assert all(sieve.passes("a") for _ in range(BURST))
    assert not sieve.passes("a")
    for number in range(5000):
        sieve.passes(str(number))
    assert len(sieve._buckets) <= 4096


@rigged
async def test_memory_and_requests_in_flight_are_bounded(rig: Rig) -> None:
    rig.line.slow = 0.1
    for number in range(3000):
        rig.tell(name=f"n{number}")
    assert len(rig.recorder._series) <= SERIES_KEPT
    assert len(rig.recorder._waiting) <= 1000
    await rig.sent()
    assert rig.line.most_at_once == 4
    assert len(rig.line.sent) <= 1000
    assert len(rig.recorder._timers) <= SERIES_KEPT


@rigged
async def test_while_the_server_is_away_an_event_is_tried_again_under_one_name(rig: Rig) -> None:
    rig.line.mischief = lambda operation: NotSent("away")
    rig.tell()
    await asyncio.sleep(35)
    assert 2 <= len(rig.line.sent) <= 4
    rig.line.mischief = lambda operation: None
    await asyncio.sleep(15)
    assert len(await rig.told()) == 1
    names = {msgspec.json.decode(operation.body)["metadata"]["name"] for operation in rig.line.sent}
    assert len(names) == 1


def test_a_server_that_stays_away_is_given_up(caplog: pytest.LogCaptureFixture) -> None:
    async def test(rig: Rig) -> None:
        rig.line.mischief = lambda operation: NotSent("away")
        rig.tell()
        await asyncio.sleep(3600)
        assert len(rig.line.sent) == 12
        assert not rig.recorder._series

    rigged(test)()
    assert caplog.text.count("was not recorded") == 1


def test_a_missing_right_is_named_once(caplog: pytest.LogCaptureFixture) -> None:
    async def test(rig: Rig) -> None:
        why = 'User "me" cannot create resource "events" in API group "events.k8s.io"'
        rig.line.mischief = lambda operation: forbidden(EVENTS, "", why).status.answer()
        for number in range(10):
            rig.tell(name=f"n{number}")
        await rig.sent()

    rigged(test)()
    lines = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(lines) == 1
    assert "the verbs create and patch on events in the API group events.k8s.io" in lines[0]


def test_a_namespace_that_goes_or_is_gone_is_no_news(caplog: pytest.LogCaptureFixture) -> None:
    async def test(rig: Rig) -> None:
        rig.recorder.record(ConfigMap(metadata=ObjectMeta(name="a", namespace="gone")), "Done", "", type="Normal", action="Reconcile")
        await rig.sent()
        cause = StatusCause("NamespaceTerminating", "it goes", "metadata.namespace")
        rig.line.mischief = lambda operation: forbidden(EVENTS, "", "it goes", [cause]).status.answer()
        rig.tell()
        await rig.sent()
        assert len(rig.line.sent) == 2

    rigged(test)()
    assert [record for record in caplog.records if record.levelno >= logging.INFO] == []


@rigged
async def test_objects_outside_namespaces_have_their_events_in_default(rig: Rig) -> None:
    rig.recorder.record(Namespace(metadata=ObjectMeta(name="kube-system")), "Seen", "", type="Normal", action="Look")
    obj = Untyped({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-public"}})
    rig.recorder.record(obj, "Seen", "", type="Warning", action="Look")
    await rig.sent()
    assert [(event.namespace, event.regarding.kind) for event in await rig.told()] == [("default", "Namespace")] * 2


@rigged
async def test_what_is_too_long_or_named_otherwise_is_made_to_fit(rig: Rig) -> None:
    rig.tell(note="ä" * 2000, reason="R" * 200, action="A" * 200)
    rig.recorder.record(ConfigMap(metadata=ObjectMeta(name="system:odd", namespace="default")), "Odd", "\ud800", type="Normal", action="Do")
    await rig.sent()
    first, second = sorted(await rig.told(), key=lambda event: event.reason != "Odd")
    assert first.name.startswith("event.")
    assert first.note == "?"
    assert len(second.note.encode()) <= 1024
    assert second.note.startswith("ä" * 500)
    assert second.note.endswith("…")


def test_texts_are_cut_between_characters() -> None:
    assert cut("short", 128) == "short"
    assert cut("a" * 128, 128) == "a" * 128
    for limit in range(10, 20):
        text = cut("äöü€" * 20, limit)
        assert len(text.encode()) <= limit
        assert text.endswith("…")
        assert "\ufffd" not in text


def test_a_reporter_is_a_qualified_name() -> None:
    assert reporter("webapp") == "webapp"
    assert reporter("a" * 128) == "a" * 63
    assert reporter("-a b-") == "a-b"
    assert reporter("...") == "setpoint"


def test_event_names_fit() -> None:
    async def main(world: World) -> None:
        assert len(event_name("a" * 253, world.chance)) <= 253
        assert event_name("a.b", world.chance).startswith("a.b.")
        assert event_name("A_b", world.chance).startswith("event.")

    simulate(main)


@rigged
async def test_what_the_api_would_refuse_is_said_to_who_asks(rig: Rig) -> None:
    for wrong in ({"reason": ""}, {"action": ""}, {"type": "Error"}):
        with pytest.raises(ValueError, match="an event"):
            rig.tell(**wrong)


@rigged
async def test_the_last_counts_are_told_at_the_end(rig: Rig) -> None:
    rig.tell()
    await rig.sent()
    rig.tell()
    await rig.sent()
    for _ in range(8):
        rig.tell()
    rig.tell(reason="Stopped")
    await rig.recorder.flush()
    events = {event.reason: event for event in await rig.told()}
    assert events["Scaled"].series is not None
    assert events["Scaled"].series.count == 10
    assert "Stopped" in events
    rig.tell(reason="Late")
    await rig.sent()
    assert "Late" not in {event.reason for event in await rig.told()}


@rigged
async def test_the_end_does_not_wait_for_a_server_that_does_not_answer(rig: Rig) -> None:
    rig.line.slow = 1000
    for number in range(10):
        rig.tell(name=f"n{number}")
    began = rig.world.clock.monotonic()
    await rig.recorder.flush()
    assert rig.world.clock.monotonic() - began <= 6


@rigged
async def test_a_process_that_does_not_lead_sends_none(rig: Rig) -> None:
    rig.connection.fence = lambda: "it does not lead"
    rig.tell()
    await rig.sent()
    await rig.recorder.flush()
    assert rig.line.sent == []


def test_a_hot_loop_of_runs_makes_one_event_and_its_end_tells_all_of_them() -> None:
    controller = Controller(ConfigMap, name="busy")
    runs: list[Request] = []

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        config = await ctx.get(ConfigMap, request)
        assert config is not None
        assert ctx.event(config, "Seen", f"run {len(runs)}") is None  # nothing that is told depends on earlier runs
        runs.append(request)

    async def main(world: World) -> None:
        async with ControlPlane(world, controllers=False) as plane:
            line = Line(plane)
            manager = Manager(Connection(line, world))
            await manager.client.create(ConfigMap(metadata=ObjectMeta(name="a", namespace="default")))
            manager.add(controller)
            running = asyncio.create_task(manager.run())
            while len(runs) < 1000:
                for runtime in manager.controllers:
                    runtime.queue.add(Request("default", "a"), "again")
                await asyncio.sleep(0.001)
            manager.stop()
            await running
            (event,) = await Client(Connection(plane.transport(), world)).list(Event)
            assert event.series is not None
            assert event.series.count == len(runs)
            assert event.note == "run 0"
            assert event.reporting_controller == "busy"
            assert line.verbs == ["create", "patch", "patch"]

    simulate(main)


def test_an_answer_that_makes_no_sense_is_logged_and_the_event_dropped(caplog: pytest.LogCaptureFixture) -> None:
    async def test(rig: Rig) -> None:
        rig.line.mischief = lambda operation: failure(418, "Teapot", "no coffee").status.answer()
        rig.tell()
        await rig.sent()
        assert not rig.recorder._series

    rigged(test)()
    assert "no coffee" in caplog.text
    assert isinstance(failure(418, "Teapot", "").status.answer(), Answer)


@rigged
async def test_what_is_untold_at_the_end_is_sent_side_by_side_and_for_a_few_seconds(rig: Rig) -> None:
    rig.line.slow = 0.02
    for number in range(700):
        rig.tell(f"o{number}")
    began = rig.world.clock.monotonic()
    await rig.recorder.flush()
    assert rig.world.clock.monotonic() - began < 5
    assert len(await rig.told()) == 700

    rig.recorder = EventRecorder("other", client=rig.client, world=rig.world, said=Said("other"), spawn=rig._spawn)
    rig.line.slow = 60
    for number in range(1000):
        rig.tell(f"p{number}")
    await asyncio.sleep(1)
    began = rig.world.clock.monotonic()
    await rig.recorder.flush()
    assert rig.world.clock.monotonic() - began <= 5.1


def test_events_that_are_on_their_way_do_not_hold_up_the_end() -> None:
    controller = Controller(ConfigMap, name="tells")

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        found = await ctx.get(ConfigMap, request)
        if found is not None:
            ctx.event(found, "Seen", "as ever")

    async def main(world: World) -> None:
        async with ControlPlane(world, controllers=False) as plane:
            line = Line(plane)
            manager = Manager(Connection(line, world))
            for number in range(100):
                await manager.client.create(ConfigMap(metadata=ObjectMeta(name=f"n{number}", namespace="default")))
            line.slow = 20
            manager.add(controller)
            running = asyncio.create_task(manager.run())
            await asyncio.sleep(5)
            began = world.clock.monotonic()
            manager.stop()
            await running
            assert world.clock.monotonic() - began < 6

    simulate(main)
