"""Resync: an object that has not run for long runs again, and that costs nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from setpoint.controller import Context, Controller, Predicate, QueueAdded, Result, predicates
from setpoint.controller.lanes import LOW_PRIORITY
from setpoint.objects import Request
from setpoint.world import World, simulate

from .fakes import Gadget, Rig, gadget

HOUR = 3600.0


def story(
    hours: float, *, gadgets: int = 1, every: float | None = None, **declared: Any
) -> tuple[dict[str, list[float]], list[QueueAdded]]:
    """At which hours each gadget ran, and what was enqueued for its resync.

    With `every`, the first asks to run again after so many hours.
    """
    controller: Controller[Any] = Controller(Gadget, **declared)
    runs: dict[str, list[float]] = {}

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> Result | None:
        runs.setdefault(request.name, []).append(asyncio.get_running_loop().time() / HOUR)
        return Result(requeue_after=every * HOUR) if every and request.name == "g0" else None

    async def main(world: World) -> list[QueueAdded]:
        rig = Rig(world)
        for number in range(gadgets):
            rig.server.put(gadget(f"g{number}"))
        async with rig.running(controller):
            await asyncio.sleep(hours * HOUR)
        return [event for event in rig.heard(QueueAdded) if event.reason == "resync"]

    return runs, simulate(main)


def test_each_object_runs_again_after_ten_hours_a_tenth_more_or_less_by_chance() -> None:
    runs, asked = story(11.1, gadgets=200)
    seconds = [times[1] for times in runs.values()]
    assert all(len(times) == 2 for times in runs.values())
    assert 9.0 <= min(seconds) < 9.5
    assert 10.5 < max(seconds) <= 11.0
    assert len({round(at, 1) for at in seconds}) >= 8  # spread out
    assert {event.priority for event in asked} == {LOW_PRIORITY}


@pytest.mark.parametrize(
    "predicate", [predicates.generation_changed, predicates.version_changed, Predicate(lambda old, new: False), predicates.labelled("a=b")]
)
def test_no_predicate_filters_a_resync(predicate: Predicate[Any]) -> None:
    """What controller-runtime's SyncPeriod gives comes through the predicates, and one about the generation passes none of it."""
    runs, _ = story(24, predicate=predicate, resync=HOUR)
    assert 20 <= len(runs["g0"]) <= 27


def test_any_run_of_a_key_begins_its_time_anew() -> None:
    runs, asked = story(100, gadgets=2, every=5)
    assert [event.request.name for event in asked] == ["g1"] * len(asked)
    assert len(runs["g0"]) == 20
    assert 9 <= len(asked) <= 11


def test_none_is_never() -> None:
    runs, asked = story(50, resync=None)
    assert asked == []
    assert len(runs["g0"]) == 1


def test_an_object_that_is_gone_is_not_asked_for_and_not_remembered() -> None:
    controller: Controller[Any] = Controller(Gadget)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        return None

    async def main(world: World) -> None:
        rig = Rig(world)
        kept, gone = rig.server.put(gadget("kept")), rig.server.put(gadget("gone"))
        async with rig.running(controller) as (runtime,):
            await asyncio.sleep(2 * HOUR)
            rig.server.remove(gone)
            await asyncio.sleep(24 * HOUR)
            assert [event.request for event in rig.heard(QueueAdded) if event.reason == "resync"] == [kept.key] * 2
            resync = runtime.inflow._resync
            assert resync is not None
            assert list(resync._due) in ([kept.key], [])

    simulate(main)


@pytest.mark.parametrize("resync", [0, -1, float("nan"), float("inf"), True, "10h"])
def test_what_is_no_period_is_refused(resync: Any) -> None:
    with pytest.raises(ValueError, match="resync is a number of seconds above 0, or None for never"):
        Controller(Gadget, resync=resync)
