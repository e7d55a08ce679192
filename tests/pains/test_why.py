"""Why did this run? The reconciler must not know; people must."""

from __future__ import annotations

import logging
from datetime import timedelta

import pytest

from setpoint import Context, Controller, Request, Result
from setpoint.k8s.core.v1 import ConfigMap
from setpoint.manager.flight.records import Run

from .planes import Embedded, Real
from .scenes import Gate, Thing


def runs_of(cluster: Embedded | Real, controller: str, request: Request) -> list[Run]:
    """What the last process has recorded of a key."""
    recorder = cluster.managers[-1].flight_recorder
    assert recorder is not None
    return recorder.runs(controller, request)


def test_a_run_that_a_change_brought_forward_is_not_told_as_one_of_the_timer(cluster: Embedded | Real) -> None:
    """kube-rs/kube#1114 (and #800, PR#571, #457): a key waits for its timer of ten seconds; a real change brings it forward; the reason
    that is told is "reconciler requested retry".
    """
    waiting = Controller(Thing, name="waiting")

    @waiting.reconciler
    async def wait(ctx: Context, request: Request) -> Result:
        return Result(requeue_after=10.0)

    thing = cluster.thing()
    cluster.launch(waiting)
    cluster.until(lambda: len(runs_of(cluster, "waiting", thing.key)) == 1)
    cluster.advance(timedelta(seconds=3))
    changed = cluster.edit(thing, value="changed")
    cluster.until(lambda: len(runs_of(cluster, "waiting", thing.key)) == 2)
    (trigger,) = runs_of(cluster, "waiting", thing.key)[-1].triggers
    assert (trigger.source, trigger.kind, trigger.key, trigger.what) == ("watch", "Thing", str(thing.key), "changed")
    assert (trigger.old, trigger.new) == (thing.metadata.resource_version, changed.metadata.resource_version)
    assert (trigger.own, trigger.by, trigger.paths) == ("foreign", "setpoint-test", ["spec.value"])


def test_a_run_by_the_timer_is_told_as_one(embedded: Embedded) -> None:
    """kube-rs/kube#1114, the other way round: nothing has changed, and the timer it is."""
    waiting = Controller(Thing, name="waiting")

    @waiting.reconciler
    async def wait(ctx: Context, request: Request) -> Result:
        return Result(requeue_after=10.0)

    thing = embedded.thing()
    embedded.launch(waiting)
    embedded.advance(timedelta(seconds=25))
    first, *others = runs_of(embedded, "waiting", thing.key)
    assert [trigger.what for trigger in first.triggers] == ["listed"]
    assert [[trigger.source for trigger in run.triggers] for run in others] == [["timer"], ["timer"]]


def test_of_reasons_that_were_merged_none_is_left_out(cluster: Embedded | Real, caplog: pytest.LogCaptureFixture) -> None:
    """kubevirt/ssp-operator PR#351, kubernetes-sigs/controller-runtime#1186, #1997, #1447: the queue merges requests, so that one reason is
    told and the others are not; a log of one misleads. While a key runs, a user changes it twice, and somebody else its child.
    """
    caplog.set_level(logging.DEBUG, logger="setpoint.why")
    gate = Gate()
    parent = Controller(Thing, name="parent", owns=[ConfigMap])

    @parent.reconciler
    async def populate(ctx: Context, request: Request) -> None:
        thing = await ctx.get(Thing, request)
        if thing is None:
            return
        await ctx.apply(ConfigMap(metadata=cluster.meta("child"), data={"a": "1"}), owner=thing)
        thing.status.seen = thing.spec.value
        await ctx.update_status(thing)
        if thing.spec.value == "go":
            await gate.passed()

    thing = cluster.thing()
    cluster.launch(parent)
    cluster.settle()
    cluster.edit(thing, value="go")
    cluster.until(lambda: gate.reached)
    cluster.edit(thing, value="further")
    last = cluster.edit(thing, size=7)
    child = cluster.get(ConfigMap, f"{cluster.namespace}/child")
    cluster.change(child, lambda found: found.data.update(b="2"))
    cluster.advance(timedelta(seconds=5))
    runs = len(runs_of(cluster, "parent", thing.key))
    gate.open()
    cluster.until(lambda: len(runs_of(cluster, "parent", thing.key)) > runs)
    merged = {trigger.kind: trigger for trigger in runs_of(cluster, "parent", thing.key)[runs].triggers}
    assert sorted(merged) == ["ConfigMap", "Thing"]
    assert merged["Thing"].times == 3  # its own status write among them
    assert merged["Thing"].new == last.metadata.resource_version
    assert merged["ConfigMap"].source == "owned"
    child_changed = merged["ConfigMap"]
    assert (child_changed.times, child_changed.own, child_changed.paths) == (1, "foreign", ["data.b"])
    cluster.settle()
    told = [record.getMessage() for record in caplog.records if record.name == "setpoint.why"]
    assert any(f"Thing {thing.key} changed" in text and f"ConfigMap {child.key} changed" in text for text in told), told
