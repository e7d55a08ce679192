"""What listens to a manager's runs keeps its bounds and takes whatever comes; should it fail all the same, no run is affected."""

from __future__ import annotations

import asyncio
import logging
import tracemalloc
from typing import Any

import pytest

from setpoint import Context, Controller, ObjectMeta, Request
from setpoint.api import GroupVersionResource, Operation
from setpoint.cache import Change
from setpoint.client import Connection
from setpoint.client.events import RequestDone, RequestSent
from setpoint.cluster import ControlPlane
from setpoint.controller import Cause, EffectCalled, QueueTaken, RunEnded, RunStarted, Triggered
from setpoint.controller.events import Outcome
from setpoint.k8s.core.v1 import ConfigMap
from setpoint.manager import Manager
from setpoint.manager.flight.debug_endpoint import _json
from setpoint.manager.flight.heads import head_of
from setpoint.manager.flight.in_progress import Asked
from setpoint.manager.flight.loops import Loops
from setpoint.manager.flight.recorder import FlightRecorder
from setpoint.manager.flight.records import Run, Trigger, Write, document
from setpoint.manager.flight.why import histories
from setpoint.manager.flight.writes import write_of
from setpoint.manager.metrics.exposition import exposition
from setpoint.objects import kind_of
from setpoint.testing import Cluster
from setpoint.world import Event, SimulatedClock, World, simulate

ONE = Request("default", "one")
UNSPEAKABLE = "\udcff"
"""No UTF-8 says it, as a file's name may have it."""


def recording(**options: Any) -> FlightRecorder:
    recorder = FlightRecorder(SimulatedClock(lambda: 0.0), lambda operation: ("", None), lambda loop: None, **options)
    recorder.include_controller("one", "ConfigMap")
    recorder.include_controller("two", "ConfigMap")
    return recorder


def ran(recorder: FlightRecorder, controller: str, request: Request, *events: Event, error: str = "", reason: str = "asked") -> None:
    run = f"{controller} {request}"
    recorder.hear(Triggered(controller=controller, request=request, cause=Cause("external", about=reason)))
    recorder.hear(QueueTaken(controller=controller, request=request, priority=0, waited=0.5))
    recorder.hear(RunStarted(controller=controller, request=request, run=run, at=0.0))
    for event in events:
        recorder.hear(event)
    result: Outcome = "error" if error else "success"
    recorder.hear(RunEnded(controller=controller, request=request, run=run, result=result, seconds=1.0, error=error))


def update(body: bytes = b"{}", *, run: str = "", name: str = "one", content_type: str = "application/json") -> Operation:
    resource = GroupVersionResource("", "v1", "configmaps")
    return Operation(verb="patch", resource=resource, namespace="default", name=name, body=body, content_type=content_type, run=run)


def test_runs_with_texts_that_cannot_be_written_go_on_and_are_told(setpoint_cluster: Cluster, caplog: pytest.LogCaptureFixture) -> None:
    runs: list[str] = []

    async def outside() -> None:
        return None

    outside.__qualname__ = outside.__name__ = f"call {UNSPEAKABLE}"

    async def reconcile(ctx: Context, request: Request) -> None:
        runs.append(request.name)
        await ctx.get(ConfigMap, Request("default", UNSPEAKABLE))
        await ctx.effect(outside)
        if len(runs) == 1:
            raise OSError(f"no file {UNSPEAKABLE}{'x' * 10_000}")

    setpoint_cluster.create(ConfigMap(metadata=ObjectMeta(name="one", namespace="default")))
    setpoint_cluster.start(Controller(ConfigMap, reconciler=reconcile, name="files"))
    setpoint_cluster.settle()
    (manager,) = setpoint_cluster._managers

    async def ask() -> Any:
        return histories(manager, "files", ONE)

    (history,) = setpoint_cluster._run(ask())
    assert [run.result for run in history.runs] == ["error", "success"]
    assert history.runs[0].error.startswith("OSError: no file ?xxx")
    assert len(history.runs[0].error) == 500
    assert _json(document(history)).status == 200
    assert b'call="call ?"' in exposition(manager.metrics.registry)
    assert "a fault in Setpoint" not in caplog.text


def test_a_listener_that_fails_is_told_of_once_and_no_run_is_affected(
    setpoint_cluster: Cluster, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[str] = []

    async def reconcile(ctx: Context, request: Request) -> None:
        runs.append(request.name)

    def broken(event: Event) -> None:
        raise ZeroDivisionError

    caplog.set_level(logging.ERROR, "setpoint.manager")
    setpoint_cluster.start(Controller(ConfigMap, reconciler=reconcile))
    (manager,) = setpoint_cluster._managers
    assert manager.flight_recorder is not None
    for event in RunEnded, RequestDone:
        manager.flight_recorder._handlers[event] = broken
        manager.metrics._handlers[event] = [broken]
    monkeypatch.setattr(manager._refusals, "_hear", broken)
    for name in ("one", "two", "three"):
        setpoint_cluster.create(ConfigMap(metadata=ObjectMeta(name=name, namespace="default")))
        setpoint_cluster.settle()
    assert runs == ["one", "two", "three"]
    exposition(manager.metrics.registry)  # in simulated time, nothing is counted before somebody looks
    for name in "the flight recorder", "the metrics":
        for sort in "RunEnded", "RequestDone":
            assert caplog.text.count(f"{name} failed at a {sort},") == 1
    assert caplog.text.count("the check of permissions failed at a RequestDone,") == 1  # of all else it does not hear


def test_the_records_of_several_controllers_together_keep_to_the_capacity() -> None:
    recorder = recording(capacity=20_000)
    for controller in ("one", "two"):
        for number in range(200):
            ran(recorder, controller, Request("default", f"{number}"))
            assert recorder.size <= 20_000
    assert recorder.known("two")[-1] == Request("default", "199")
    assert recorder.size == sum(keys.bytes for keys in recorder._controllers.values())


def test_huge_texts_do_not_make_huge_records() -> None:
    recorder = recording()
    effect = EffectCalled(controller="one", request=ONE, call="c" * 10**6, seconds=1.0, error="e" * 10**6)
    for _ in range(10):
        ran(recorder, "one", ONE, effect, error="e" * 10**6, reason="r" * 10**6)
    assert recorder.size < 40_000


def test_keys_that_fail_for_ever_are_forgotten_with_their_records() -> None:
    recorder = recording(capacity=5_000)
    for number in range(500):
        ran(recorder, "one", Request("default", f"{number}"), error="ValueError")
    assert len(recorder._controllers["one"].failed) == len(recorder) < 50


def test_a_key_that_is_passed_over_is_asked_for_no_longer() -> None:
    recorder = recording()
    for number in range(10):
        request = Request("gone", f"{number}")
        recorder.hear(Triggered(controller="one", request=request, cause=Cause("external")))
        assert recorder.state("one", request) == "queued"
        recorder.hear(QueueTaken(controller="one", request=request, priority=0, waited=1.0))
        assert recorder.state("one", request) == "waiting"
    ran(recorder, "one", ONE)
    (run,) = recorder.runs("one", ONE)
    assert ([trigger.what for trigger in run.triggers], run.waited) == (["asked"], 0.5)


def test_writes_that_never_end_are_forgotten() -> None:
    recorder = recording()
    for _ in range(5_000):
        recorder.hear(RequestSent(operation=update()))
    assert len(recorder._sent) <= 1024


def test_fields_whose_names_change_do_not_fill_the_memory_of_circles() -> None:
    loops = Loops()
    for number in range(1_000):
        write = Write("updated", "ConfigMap", "default/one", paths=["data.same", *(f"data.{number}-{one}" for one in range(5))])
        trigger = Trigger("watch", "ConfigMap", "default/one", "changed", own="foreign", by="somebody", paths=["data.same"])
        loops.ran("one", ONE, Run(at=float(number), triggers=[trigger], writes=[write]))
    assert len(loops._keys["one", ONE].ours["ConfigMap default/one"]) <= 200
    (loop,) = loops.of("one", ONE)
    assert loop.paths == ("data.same",)


def test_managers_of_one_world_hear_their_own_runs_and_the_world_hears_all() -> None:
    """The same controller on two clusters: runs of the same keys, and none of one is told of by the other."""

    async def reconcile(ctx: Context, request: Request) -> None:
        await ctx.get(ConfigMap, request)

    async def main(world: World) -> None:
        heard: list[str] = []
        world.observer.subscribe(lambda event: heard.append(event.run) if isinstance(event, RunEnded) else None)
        async with ControlPlane(world, controllers=False) as here, ControlPlane(world, controllers=False) as there:
            managers = [Manager(Connection(plane.transport(), world)) for plane in (here, there)]
            for manager in managers:
                manager.add(Controller(ConfigMap, reconciler=reconcile))
            running = [asyncio.create_task(manager.run()) for manager in managers]
            await asyncio.sleep(1)
            await managers[0].client.create(ConfigMap(metadata=ObjectMeta(name="one", namespace="default")))
            await asyncio.sleep(1)
            for manager, runs, writes in zip(managers, (1, 0), (1, None), strict=True):
                value = manager.metrics.registry.get_sample_value
                labels = {"controller": "configmap", "result": "success"}
                assert value("controller_runtime_reconcile_total", labels) == runs
                assert value("rest_client_requests_total", {"code": "201", "method": "POST", "host": ""}) == writes
                assert manager.flight_recorder is not None
                assert len(manager.flight_recorder.runs("configmap", ONE)) == runs
                manager.stop()
            await asyncio.gather(*running)
        assert heard == ["configmap default/one"]

    simulate(main)


def test_the_answer_to_a_scale_is_not_compared_with_the_object() -> None:
    before = b'{"kind":"Deployment","metadata":{"name":"one","namespace":"default","uid":"1","resourceVersion":"1"},"spec":{"template":{}}}'
    after = b'{"kind":"Scale","metadata":{"name":"one","namespace":"default","uid":"1","resourceVersion":"2"},"spec":{"replicas":3}}'
    resource = GroupVersionResource("apps", "v1", "deployments")
    body, merge = b'{"spec":{"replicas":3}}', "application/merge-patch+json"
    operation = Operation(
        verb="patch", resource=resource, namespace="default", name="one", subresource="scale", body=body, content_type=merge
    )
    write = write_of(operation, "200", "Deployment", before, after, head_of(after))
    assert (write.paths, write.stated, write.version) == (["spec.replicas"], True, "2")


def test_a_standby_does_not_keep_every_state_that_its_keys_went_through() -> None:
    """Keys wait for days while another process leads: of each, the states around its last change are kept, and the version it had first."""
    recorder, info = recording(), kind_of(ConfigMap)

    def state(version: int) -> bytes:
        head = (
            f'{{"metadata":{{"name":"one","namespace":"default","uid":"1","resourceVersion":"{version}","managedFields":[]}},"data":{{"x":"'
        )
        return (head + f'{version}"}}}}').ljust(3_000).encode()

    tracemalloc.start()
    try:
        for number in range(2_000):
            request = Request("default", f"{number}")
            before = state(1)
            for version in range(2, 12):
                after = state(version)
                change = Change(request, before, after)
                recorder.hear(Triggered(controller="one", request=request, cause=Cause("watch", info, change)))
                before = after
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    last = Request("default", "1999")
    (trigger,) = recorder.pending("one", last)
    assert (trigger.what, trigger.old, trigger.new, trigger.times, trigger.paths) == ("changed", "1", "11", 10, ["data.x"])
    (early,) = recorder.pending("one", Request("default", "0"))
    assert (early.what, early.old, early.new, early.times) == ("changed", "1", "11", 10)
    asked = recorder._controllers["one"].asked[last]
    assert isinstance(asked, Asked)
    (merged,) = asked.causes.values()
    assert len(merged.last) == 1
    assert merged.first.change is not None
    assert len(merged.first.change.old or b"") < 300
    assert kept < 2_000 * 16_000  # half of them came before there was a crowd


def test_a_fight_with_many_is_seen_though_none_of_them_comes_twice() -> None:
    loops, found = Loops(), []
    for number in range(8):
        trigger = Trigger("owned", "Deployment", "default/one", "changed", own="foreign", by=f"editor-{number}", paths=["spec.replicas"])
        write = Write("applied", "Deployment", "default/one", paths=["spec.replicas"])
        found.append(loops.ran("one", ONE, Run(at=float(number), triggers=[trigger], writes=[write])))
    (loop,) = [loop for loop in found if loop is not None]
    assert (loop.sort, loop.writers) == ("fight", ("one", *(f"editor-{number}" for number in range(1, 6))))
