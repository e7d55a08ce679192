"""The flight recorder tells why each run was, what it read and wrote, and what came of it; within bounds, and without any value."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import tracemalloc
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setpoint import Context, Controller, ObjectMeta, Request, Resource, Result, Struct, kind
from setpoint.cache import Change
from setpoint.controller import Cause, QueueTaken, RunEnded, RunStarted, Triggered
from setpoint.k8s.core.v1 import ConfigMap, Secret
from setpoint.manager import Manager, Options
from setpoint.manager.flight.changed_paths import paths_between
from setpoint.manager.flight.recorder import FlightRecorder
from setpoint.manager.flight.records import History, Run, pack, unpack
from setpoint.manager.flight.why import NothingKnown, histories, in_words, is_called
from setpoint.objects import kind_of
from setpoint.testing import Cluster
from setpoint.world import SimulatedClock

ONE = Request("default", "one")


class GadgetSpec(Struct):
    replicas: int = 1


class GadgetStatus(Struct):
    seen: int = 0


@kind(group="flight.example.com", version="v1", short_names=["gad"])
class Gadget(Resource[GadgetSpec, GadgetStatus]):
    """Something to reconcile."""


def gadget(name: str = "one") -> Gadget:
    return Gadget(metadata=ObjectMeta(name=name, namespace="default"), spec=GadgetSpec())


def config(name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"), data=data)


Reconcile = Callable[[Context, Request], Any]


def controlled(reconcile: Reconcile, **options: Any) -> Controller[Gadget]:
    return Controller(Gadget, reconciler=reconcile, **options)


def told(cluster: Cluster, kind: str = "gadget", key: Request = ONE, controller: str = "") -> History:
    """What the only manager knows of a key."""
    (manager,) = cluster._managers

    async def ask() -> History:
        (history,) = histories(manager, kind, key, controller)
        return history

    return cluster._run(ask())


async def nothing(ctx: Context, request: Request) -> None:
    return None


# why it ran


def test_the_start_up_listing_is_told_as_such(setpoint_cluster: Cluster) -> None:
    setpoint_cluster.create(gadget())
    setpoint_cluster.start(controlled(nothing))
    setpoint_cluster.settle()
    (run,) = told(setpoint_cluster).runs
    (trigger,) = run.triggers
    assert (trigger.source, trigger.kind, trigger.key, trigger.what) == ("watch", "Gadget", "default/one", "listed")
    assert (run.result, run.attempt, run.requeue_after) == ("success", 1, None)


def test_a_foreign_change_is_told_with_its_versions_its_writer_and_its_fields(setpoint_cluster: Cluster) -> None:
    setpoint_cluster.start(controlled(nothing))
    before = setpoint_cluster.create(gadget())
    setpoint_cluster.settle()
    after = setpoint_cluster.refresh(before)
    after.spec.replicas = 7
    setpoint_cluster.update(after)
    setpoint_cluster.settle()
    (trigger,) = told(setpoint_cluster).runs[-1].triggers
    assert (trigger.what, trigger.old, trigger.new) == ("changed", before.metadata.resource_version, after.metadata.resource_version)
    assert (trigger.own, trigger.by, trigger.paths, trigger.spec) == ("foreign", "setpoint-test", ["spec.replicas"], True)


def test_an_own_write_is_told_as_own_and_another_controllers_as_of_this_process(setpoint_cluster: Cluster) -> None:
    async def writing(ctx: Context, request: Request) -> None:
        one = await ctx.get(Gadget, request)
        assert one is not None
        one.status.seen = 1
        await ctx.update_status(one)

    setpoint_cluster.create(gadget())
    setpoint_cluster.start(controlled(writing), controlled(nothing, name="watcher"))
    setpoint_cluster.settle()
    (own,) = told(setpoint_cluster, controller="gadget").runs[-1].triggers
    assert (own.own, own.by) == ("this", "gadget")
    (others,) = told(setpoint_cluster, controller="watcher").runs[-1].triggers
    assert (others.own, others.by, others.paths) == ("process", "gadget", ["status"])


def test_every_merged_trigger_is_told(setpoint_cluster: Cluster) -> None:
    """While a run goes on, the object changes three times and something mapped to it once: one more run, and four reasons in two."""
    going, go = asyncio.Event(), asyncio.Event()

    async def slow(ctx: Context, request: Request) -> None:
        if not going.is_set():
            going.set()
            await go.wait()

    def mapped(config: ConfigMap) -> list[Request]:
        return [ONE] if config.name == "about" else []

    controller = controlled(slow)
    controller.watch(ConfigMap, map=mapped)
    one = setpoint_cluster.create(gadget())
    first = one.metadata.resource_version
    setpoint_cluster.start(controller)
    setpoint_cluster._run(going.wait())
    for replicas in (2, 3, 4):
        one.spec.replicas = replicas
        setpoint_cluster.update(one)
    setpoint_cluster.create(config("about", a="b"))
    setpoint_cluster.advance(timedelta(seconds=1))
    assert told(setpoint_cluster).state == "running"
    assert len(told(setpoint_cluster).pending) == 2
    setpoint_cluster._loop.call_soon(go.set)
    setpoint_cluster.settle()
    history = told(setpoint_cluster)
    assert len(history.runs) == 2
    change, mapping = sorted(history.runs[1].triggers, key=lambda trigger: trigger.source == "mapped")
    assert (change.times, change.old, change.new, change.spec) == (3, first, one.metadata.resource_version, True)
    assert (mapping.source, mapping.kind, mapping.key) == ("mapped", "ConfigMap", "default/about")
    assert mapping.mapper.endswith("mapped")
    assert (history.state, history.pending) == ("waiting", [])


def test_a_child_that_is_deleted_by_somebody_is_told_and_asking_for_it_finds_its_owner(setpoint_cluster: Cluster) -> None:
    async def owning(ctx: Context, request: Request) -> None:
        one = await ctx.get(Gadget, request)
        await ctx.apply(config("child", a="b"), owner=one)

    setpoint_cluster.start(controlled(owning, owns=[ConfigMap]))
    setpoint_cluster.create(gadget())
    setpoint_cluster.settle()
    assert told(setpoint_cluster, "cm", Request("default", "child")).key == "default/one"
    child = setpoint_cluster.get(ConfigMap, "default/child")
    assert child is not None
    setpoint_cluster.delete(child)
    setpoint_cluster.settle()
    runs = told(setpoint_cluster).runs
    deleted = [trigger for run in runs for trigger in run.triggers if trigger.what == "deleted"]
    assert [(trigger.source, trigger.kind, trigger.own) for trigger in deleted] == [("owned", "ConfigMap", "foreign")]
    again = next(run for run in runs if any(trigger.what == "deleted" for trigger in run.triggers))
    assert [write.operation for write in again.writes] == ["created"]


def test_a_pending_timer_brought_forward_by_a_real_change_reports_the_real_change(setpoint_cluster: Cluster) -> None:
    """kube-rs/kube#1114: the reason of the timer hid the one of the change that came before it was due."""

    async def polling(ctx: Context, request: Request) -> Result:
        return Result(requeue_after=3600)

    setpoint_cluster.start(controlled(polling))
    one = setpoint_cluster.create(gadget())
    setpoint_cluster.advance(timedelta(minutes=10))
    assert told(setpoint_cluster).due == pytest.approx(3000, abs=1)
    one.spec.replicas = 2
    setpoint_cluster.update(one)
    setpoint_cluster.advance(timedelta(minutes=1))
    run = told(setpoint_cluster).runs[-1]
    assert [(trigger.source, trigger.what, trigger.paths) for trigger in run.triggers] == [("watch", "changed", ["spec.replicas"])]
    assert told(setpoint_cluster).due == pytest.approx(3540, abs=1)
    setpoint_cluster.advance(timedelta(hours=1))
    run = told(setpoint_cluster).runs[-1]
    assert [trigger.source for trigger in run.triggers] == ["timer"]
    assert run.requeue_after == 3600


def test_failures_are_told_with_their_error_and_count_attempts(setpoint_cluster: Cluster) -> None:
    runs: list[int] = []

    async def failing(ctx: Context, request: Request) -> None:
        runs.append(1)
        if len(runs) < 3:
            raise RuntimeError("not yet")

    setpoint_cluster.start(controlled(failing))
    setpoint_cluster.create(gadget())
    setpoint_cluster.settle()
    first, second, third = told(setpoint_cluster).runs
    assert [run.attempt for run in (first, second, third)] == [1, 2, 3]
    assert (first.result, first.error) == ("error", "RuntimeError: not yet")
    assert first.requeue_after is not None
    assert [(trigger.source, trigger.what) for trigger in second.triggers] == [("backoff", "failed: RuntimeError")]
    assert (third.result, third.error) == ("success", "")
    assert setpoint_cluster._run(_one_more(setpoint_cluster)) == 1


async def _one_more(cluster: Cluster) -> int:
    (manager,) = cluster._managers
    manager.controllers[0].queue.add(ONE, "somebody asked")
    await asyncio.sleep(1)
    (history,) = histories(manager, "gadget", ONE)
    assert [(trigger.source, trigger.what) for trigger in history.runs[-1].triggers] == [("external", "somebody asked")]
    return history.runs[-1].attempt


# what it did


def test_reads_writes_skipped_applies_and_effects_are_told(setpoint_cluster: Cluster) -> None:
    async def outside() -> None:
        await asyncio.sleep(2)

    async def working(ctx: Context, request: Request) -> None:
        await ctx.get(Gadget, request)
        await ctx.get(Gadget, request)
        await ctx.get(Secret, "default/none")
        await ctx.list(ConfigMap, namespace="default")
        one = await ctx.get(Gadget, request)
        await ctx.apply(config("child", a="b"), owner=one)
        await ctx.effect(outside)

    setpoint_cluster.start(controlled(working, owns=[ConfigMap]))
    setpoint_cluster.create(gadget())
    setpoint_cluster.settle()
    runs = told(setpoint_cluster).runs
    reads = [(read.kind, read.key, read.live, read.times) for read in runs[0].reads]
    assert reads[0] == ("Gadget", "default/one", False, 3)
    assert ("ConfigMap", "", False, 1) in reads
    assert [(key, live) for name, key, live, _ in reads if "ecret" in name] == [("default/none", True)]
    (created,) = runs[0].writes
    child = setpoint_cluster.get(ConfigMap, "default/child")
    assert child is not None
    assert (created.operation, created.kind, created.key) == ("created", "ConfigMap", "default/child")
    assert created.version == child.metadata.resource_version
    assert runs[1].skipped == ["ConfigMap default/child"]
    (effect,) = runs[0].effects
    assert effect.call.endswith("outside")
    assert effect.seconds == pytest.approx(2)


def test_a_write_is_told_with_the_fields_that_differ_and_one_that_changes_nothing_as_that(setpoint_cluster: Cluster) -> None:
    runs: list[int] = []

    async def writing(ctx: Context, request: Request) -> None:
        runs.append(1)
        if len(runs) == 1:
            await ctx.patch(ConfigMap, "default/other", {"data": {"a": "2", "new": "x"}, "metadata": {"labels": {"app": "y"}}})
            await ctx.patch(ConfigMap, "default/other", {"data": {"a": "2"}})

    setpoint_cluster.create(config("other", a="1"))
    setpoint_cluster.create(gadget())
    controller = controlled(writing)
    controller.watch(ConfigMap, map=lambda config: [])
    setpoint_cluster.start(controller)
    setpoint_cluster.settle()
    changed, same = told(setpoint_cluster).runs[0].writes
    assert (changed.operation, changed.changed) == ("patched", True)
    assert sorted(changed.paths) == ["data.a", "data.new", "metadata.labels"]
    assert (same.changed, same.paths, same.version) == (False, [], changed.version)


def test_a_refused_write_is_told_with_its_code(setpoint_cluster: Cluster) -> None:
    async def writing(ctx: Context, request: Request) -> None:
        await ctx.patch(ConfigMap, "default/none", {"data": {"a": "2"}})

    setpoint_cluster.create(gadget())
    setpoint_cluster.start(controlled(writing))
    setpoint_cluster.advance(timedelta(seconds=1))
    (write,) = told(setpoint_cluster).runs[0].writes
    assert (write.code, write.changed) == ("404", False)


def test_no_value_of_any_object_is_kept(setpoint_cluster: Cluster) -> None:
    runs: list[int] = []

    async def writing(ctx: Context, request: Request) -> None:
        runs.append(1)
        secret = Secret(metadata=ObjectMeta(name="key", namespace="default"), string_data={"password": f"hunter2-{min(len(runs), 3)}"})
        await ctx.apply(secret, owner=await ctx.get(Gadget, request))

    setpoint_cluster.create(gadget())
    setpoint_cluster.start(controlled(writing, owns=[Secret]))
    setpoint_cluster.settle()
    (manager,) = setpoint_cluster._managers
    recorder = manager.flight_recorder
    assert recorder is not None
    kept = b"".join(data for keys in recorder._controllers.values() for records in keys.histories.values() for data in records)
    assert b"data.password" in kept
    assert b"hunter2" not in kept
    assert b"aHVudGVyMi" not in kept  # the same in base64
    assert recorder._sent == {}
    assert not any(keys.asked for keys in recorder._controllers.values())


def test_each_run_is_a_line_in_the_debug_log(setpoint_cluster: Cluster, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "setpoint.why")
    setpoint_cluster.create(gadget())
    setpoint_cluster.start(controlled(nothing))
    setpoint_cluster.settle()
    (line,) = [record.getMessage() for record in caplog.records if record.name == "setpoint.why"]
    assert line == "ran because of: Gadget default/one listed; nothing written; success"


# who is meant


@pytest.mark.parametrize("name", ["gadget", "Gadget", "gadgets", "gad", "gadgets.flight.example.com", "gadget.v1.flight.example.com"])
def test_a_kind_is_called_as_in_kubectl(name: str) -> None:
    assert is_called(kind_of(Gadget), name)


@pytest.mark.parametrize("name", ["", "gadge", "gadgets.example.com", "configmap", "gadgets.v2.flight.example.com"])
def test_and_not_otherwise(name: str) -> None:
    assert not is_called(kind_of(Gadget), name)


def test_what_nobody_knows_is_said(setpoint_cluster: Cluster) -> None:
    setpoint_cluster.create(gadget())
    setpoint_cluster.start(controlled(nothing))
    setpoint_cluster.settle()
    with pytest.raises(NothingKnown, match="no controller here watches 'pod'; gadget watches Gadget"):
        told(setpoint_cluster, "pod")
    with pytest.raises(NothingKnown, match="gadget default/two has triggered no run here"):
        told(setpoint_cluster, "gadget", Request("default", "two"))
    with pytest.raises(NothingKnown, match="no controller 'x' runs here; these do: gadget"):
        told(setpoint_cluster, controller="x")
    assert "has triggered no run" in setpoint_cluster.why(gadget("two"))


def test_the_answer_in_words(setpoint_cluster: Cluster) -> None:
    setpoint_cluster.create(gadget())
    setpoint_cluster.start(controlled(nothing))
    setpoint_cluster.settle()
    lines = setpoint_cluster.why(gadget()).splitlines()
    assert lines[0] == "Gadget default/one  (controller gadget)"
    assert lines[2].startswith("2026-01-01 00:00:00.")
    assert lines[2].endswith("Z  ran 0 ms, success")
    assert lines[3] == "  because  Gadget default/one was there at the start"
    assert lines[-1] == "waits for a change; no timer is set"


def test_a_manager_without_a_recorder_says_so(setpoint_cluster: Cluster) -> None:
    manager = Manager(setpoint_cluster._connection, options=Options(flight_recorder=False))
    with pytest.raises(NothingKnown, match="is off"):
        histories(manager, "gadget", ONE)


# bounds


def recorder(**bounds: int) -> FlightRecorder:
    found = FlightRecorder(SimulatedClock(lambda: 0.0), lambda operation: ("", None), lambda loop: None, **bounds)
    found.include_controller("gadget", "Gadget")
    return found


def run_once(recorder: FlightRecorder, key: Request, cause: Cause | None = None) -> None:
    cause = cause or Cause("watch", kind_of(Gadget), Change(key, None, b"{}", True))
    recorder.hear(Triggered(controller="gadget", request=key, cause=cause))
    recorder.hear(QueueTaken(controller="gadget", request=key, waited=0.1, priority=0))
    recorder.hear(RunStarted(controller="gadget", request=key, run=f"gadget {key}", at=0.0))
    recorder.hear(RunEnded(controller="gadget", request=key, run=f"gadget {key}", result="success", seconds=0.1))


def test_of_each_key_so_many_runs_are_kept() -> None:
    kept = recorder(runs=3)
    for number in range(10):
        run_once(kept, ONE, Cause("external", about=str(number)))
    assert [run.triggers[0].what for run in kept.runs("gadget", ONE)] == ["7", "8", "9"]


def test_what_is_full_forgets_the_key_whose_last_run_is_the_longest_ago() -> None:
    kept = recorder(capacity=20_000)
    keys = [Request("default", f"object-{number}") for number in range(1000)]
    for key in keys:
        run_once(kept, key)
        run_once(kept, keys[0])  # which is always busy
    assert kept.size <= 20_000
    assert 20 < len(kept) < 200
    assert kept.runs("gadget", keys[0])
    assert kept.runs("gadget", keys[-1])
    assert kept.runs("gadget", keys[1]) == []
    assert kept.size == sum(160 + sum(map(len, records)) for records in kept._controllers["gadget"].histories.values())


def test_a_key_at_rest_costs_less_than_300_bytes() -> None:
    """Of the key itself, which the cache holds anyway, nothing is counted."""
    keys = [Request("default", f"object-{number}") for number in range(20_000)]
    kept = recorder()
    tracemalloc.start()
    try:
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        for key in keys:
            run_once(kept, key)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    each = (after - before) / len(keys)
    print(f"{each:.0f} bytes a key, {kept.size / len(keys):.0f} by its own count")
    assert each < 300
    assert kept.size / len(keys) > 0.8 * each  # its own count can be relied on


def test_thousands_of_causes_for_one_run_are_merged_and_counted() -> None:
    kept = recorder()
    for number in range(5000):
        change = Change(Request("default", f"pod-{number}"), None, b'{"metadata":{"uid":"u","resourceVersion":"1"}}')
        kept.hear(Triggered(controller="gadget", request=ONE, cause=Cause("owned", kind_of(ConfigMap), change)))
    assert len(kept._controllers["gadget"].asked) == 1
    run_once(kept, ONE)
    (run,) = kept.runs("gadget", ONE)
    assert len(run.triggers) == 20
    assert run.more == 5000 + 1 - 20


def test_what_belongs_to_another_manager_is_not_recorded() -> None:
    kept = recorder()
    cause = Cause("external", about="x")
    kept.hear(Triggered(controller="other", request=ONE, cause=cause))
    kept.hear(RunStarted(controller="other", request=ONE, run="other default/one", at=0.0))
    kept.hear(RunEnded(controller="other", request=ONE, run="other default/one", result="success", seconds=1))
    assert (len(kept), kept.runs("other", ONE), kept.runs("gadget", ONE)) == (0, [], [])


def test_a_record_survives_its_rest() -> None:
    run = Run(at=1.5, seconds=2.0, error="x", attempt=3)
    assert unpack(pack(run)) == run


# paths


def test_paths_name_list_items_by_name_and_leave_out_what_the_server_counts() -> None:
    before = {
        "metadata": {"resourceVersion": "1", "generation": 1, "annotations": {"a.b/c": "1"}},
        "spec": {"containers": [{"name": "web", "image": "a", "args": ["x"]}, {"name": "log", "image": "b"}]},
        "status": {"conditions": [{"type": "Ready", "status": "False"}], "n": 1},
    }
    after = {
        "metadata": {"resourceVersion": "2", "generation": 2, "annotations": {"a.b/c": "2"}, "managedFields": [1]},
        "spec": {"containers": [{"name": "web", "image": "c", "args": ["x", "y"]}, {"name": "new", "image": "b"}]},
        "status": {"conditions": [{"type": "Ready", "status": "True"}], "n": 1.0},
    }
    assert paths_between(before, after) == [
        'metadata.annotations["a.b/c"]',
        "spec.containers[name=web].image",
        "spec.containers[name=web].args[1]",
        "spec.containers[name=log]",
        "spec.containers[name=new]",
        "status.conditions[type=Ready].status",
        "status.n",
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(2, 5) | st.sampled_from(["a", "b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "type", "x", "y z"]), inner, max_size=3),
    max_leaves=12,
)
STATES = st.dictionaries(st.sampled_from(["spec", "status", "data"]), JSON, max_size=3)


@given(STATES, STATES)
def test_states_differ_exactly_if_a_path_is_named(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert bool(paths_between(before, after)) == (json.dumps(before, sort_keys=True) != json.dumps(after, sort_keys=True))
    assert paths_between(before, before) == []


def test_an_operation_that_no_cache_knows_is_told_by_what_it_asked_for(setpoint_cluster: Cluster) -> None:
    async def writing(ctx: Context, request: Request) -> None:
        await ctx.patch(ConfigMap, "default/other", {"data": {"a": "2"}})

    setpoint_cluster.create(config("other", a="1"))
    setpoint_cluster.create(gadget())
    setpoint_cluster.start(controlled(writing))
    setpoint_cluster.settle()
    (write,) = told(setpoint_cluster).runs[0].writes
    assert (write.stated, write.paths) == (True, ["data.a"])
    assert "asked for data.a" in in_words(told(setpoint_cluster))
