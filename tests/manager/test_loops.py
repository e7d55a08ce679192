"""A key that goes round in circles is reported once, with who writes and which fields; one that is merely busy is not."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta

import pytest

from setpoint import Context, Controller, ObjectMeta, Request, Resource, Result, Struct, kind
from setpoint.k8s.apps.v1 import Deployment
from setpoint.k8s.core.v1 import ConfigMap
from setpoint.testing import Cluster


class GadgetSpec(Struct):
    replicas: int = 1


class GadgetStatus(Struct):
    seen: str = ""
    count: int = 0
    ready: int = 0


@kind(group="loops.example.com", version="v1")
class Gadget(Resource[GadgetSpec, GadgetStatus]):
    """Something to go round about."""


def gadget(name: str = "one", replicas: int = 1) -> Gadget:
    return Gadget(metadata=ObjectMeta(name=name, namespace="default"), spec=GadgetSpec(replicas=replicas))


@pytest.fixture
def warned(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.WARNING, "setpoint.manager")
    return caplog


def loops(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What was said of circles."""
    words = ("triggers the next run", "fight over", "at once", "times per minute")
    return [text for record in caplog.records if any(word in (text := record.getMessage()) for word in words)]


def counted(cluster: Cluster, controller: str) -> list[float]:
    """The metric of each manager that runs such a controller."""
    found = [m.metrics.registry.get_sample_value("setpoint_reconcile_loops_total", {"controller": controller}) for m in cluster._managers]
    return [value for value in found if value is not None]


def test_an_own_status_write_that_triggers_the_next_run_is_named_with_its_field_once(
    setpoint_cluster: Cluster, warned: pytest.LogCaptureFixture
) -> None:
    controller = Controller(Gadget)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        one = await ctx.get(Gadget, request)
        assert one is not None
        if one.status.count < 200:  # else it would never end
            one.status.count += 1
            one.status.seen = str(ctx.now().timestamp())
            await ctx.update_status(one)

    setpoint_cluster.start(controller)
    setpoint_cluster.create(gadget())
    setpoint_cluster.settle()
    (said,) = loops(warned)
    assert said.startswith("your own write of ")
    assert "status.seen of Gadget default/one" in said
    assert "triggers the next run" in said
    assert counted(setpoint_cluster, "gadget") == [1]
    assert said in setpoint_cluster.why(gadget())


def test_two_controllers_that_fight_over_a_field_are_both_named(setpoint_cluster: Cluster, warned: pytest.LogCaptureFixture) -> None:
    def wanting(name: str, replicas: int) -> Controller[Gadget]:
        controller = Controller(Gadget, name=name)
        runs: list[int] = []

        @controller.reconciler
        async def reconcile(ctx: Context, request: Request) -> None:
            one = await ctx.get(Gadget, request)
            assert one is not None
            runs.append(1)
            if one.spec.replicas != replicas and len(runs) < 40:
                one.spec.replicas = replicas
                await ctx.update(one)

        return controller

    setpoint_cluster.create(gadget())
    setpoint_cluster.start(wanting("three", 3))  # each in a process of its own: neither knows the other but by the object
    setpoint_cluster.start(wanting("five", 5))
    setpoint_cluster.settle()
    said = loops(warned)
    assert len(said) == 2
    assert said[0].startswith(("three and five fight over spec.replicas", "five and three fight over spec.replicas"))
    assert "of Gadget default/one" in said[0]


def test_two_controllers_of_one_process_that_fight_are_named(setpoint_cluster: Cluster, warned: pytest.LogCaptureFixture) -> None:
    def wanting(name: str, image: str) -> Controller[Gadget]:
        controller = Controller(Gadget, name=name)
        runs: list[int] = []

        @controller.reconciler
        async def reconcile(ctx: Context, request: Request) -> None:
            runs.append(1)
            if len(runs) < 40:
                await ctx.apply(ConfigMap(metadata=ObjectMeta(name="shared", namespace="default"), data={"image": image}))

        controller.watch(ConfigMap, map=lambda config: [Request("default", "one")] if config.name == "shared" else [])
        return controller

    setpoint_cluster.create(gadget())
    setpoint_cluster.start(wanting("blue", "b"), wanting("green", "g"))
    setpoint_cluster.settle()
    said = loops(warned)
    assert said
    assert "fight over data.image of ConfigMap default/shared" in said[0]
    assert "blue" in said[0]
    assert "green" in said[0]


def test_asking_to_run_again_at_once_for_ever_is_told_as_that(setpoint_cluster: Cluster, warned: pytest.LogCaptureFixture) -> None:
    controller = Controller(Gadget)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> Result:
        return Result(requeue_after=0)

    setpoint_cluster.create(gadget())
    setpoint_cluster.start(controller)
    setpoint_cluster.advance(timedelta(hours=2))
    (said,) = loops(warned)
    assert "asks to run again at once, 10 times in a row, with nothing changed" in said


def test_a_timer_that_goes_off_all_the_time_is_told_with_its_rate(setpoint_cluster: Cluster, warned: pytest.LogCaptureFixture) -> None:
    controller = Controller(Gadget)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> Result:
        return Result(requeue_after=0.05)

    setpoint_cluster.create(gadget())
    setpoint_cluster.start(controller)
    setpoint_cluster.advance(timedelta(seconds=60))
    (said,) = loops(warned)
    assert "it runs 1204 times per minute with nothing changed" in said or "it runs 1200 times per minute" in said
    assert "0.05 s" in said


def test_a_rollout_of_fifty_pods_is_no_circle(setpoint_cluster: Cluster, warned: pytest.LogCaptureFixture) -> None:
    controller = Controller(Gadget, owns=[Deployment])

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        one = await ctx.get(Gadget, request)
        assert one is not None
        labels = {"app": one.name}
        deployment = await ctx.apply(
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": one.name, "namespace": one.namespace},
                "spec": {
                    "replicas": one.spec.replicas,
                    "selector": {"matchLabels": labels},
                    "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
                },
            },
            Deployment,
            owner=one,
        )
        one.status.ready = deployment.status.ready_replicas or 0
        await ctx.update_status(one)

    setpoint_cluster.start(controller)
    setpoint_cluster.create(gadget(replicas=50))
    setpoint_cluster.settle()
    assert setpoint_cluster.refresh(gadget()).status.ready == 50
    assert loops(warned) == []
    assert counted(setpoint_cluster, "gadget") == [0]


@pytest.mark.parametrize("pause", [0.01, 1.0])
def test_progress_told_by_somebody_else_in_a_hundred_steps_is_no_circle(
    setpoint_cluster: Cluster, warned: pytest.LogCaptureFixture, pause: float
) -> None:
    """The child's status moves a hundred times, each moves ours: the same paths are written a hundred times, and all is well."""
    controller = Controller(Gadget)
    controller.watch(ConfigMap, map=lambda config: [Request("default", "one")] if config.name == "progress" else [])

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        one, progress = await ctx.get(Gadget, request), await ctx.get(ConfigMap, "default/progress")
        assert one is not None
        assert progress is not None
        await asyncio.sleep(pause)  # so that our own change and theirs ask for the next run together
        one.status.ready = int(progress.data["ready"])
        await ctx.update_status(one)

    progress = setpoint_cluster.create(ConfigMap(metadata=ObjectMeta(name="progress", namespace="default"), data={"ready": "0"}))
    setpoint_cluster.create(gadget())
    setpoint_cluster.start(controller)
    for step in range(100):
        progress.data["ready"] = str(step)
        setpoint_cluster.update(progress)
        setpoint_cluster.advance(timedelta(seconds=pause))
    setpoint_cluster.settle()
    assert setpoint_cluster.refresh(gadget()).status.ready == 99
    assert loops(warned) == []


def test_a_poller_that_looks_every_second_and_says_what_it_found_is_no_circle(
    setpoint_cluster: Cluster, warned: pytest.LogCaptureFixture
) -> None:
    controller = Controller(Gadget)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> Result:
        one = await ctx.get(Gadget, request)
        assert one is not None
        one.status.seen = ctx.now().replace(microsecond=0).isoformat()
        await ctx.update_status(one)
        return Result(requeue_after=1)

    setpoint_cluster.create(gadget())
    setpoint_cluster.start(controller)
    setpoint_cluster.advance(timedelta(minutes=4))
    assert loops(warned) == []


def test_a_poller_that_finds_nothing_to_say_is_no_circle(setpoint_cluster: Cluster, warned: pytest.LogCaptureFixture) -> None:
    controller = Controller(Gadget)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> Result:
        return Result(requeue_after=1)

    setpoint_cluster.create(gadget())
    setpoint_cluster.start(controller)
    setpoint_cluster.advance(timedelta(minutes=20))
    assert loops(warned) == []


def test_runs_without_end_that_resyncs_ask_for_are_no_circle(setpoint_cluster: Cluster, warned: pytest.LogCaptureFixture) -> None:
    controller = Controller(Gadget, resync=0.5)
    runs: list[int] = []

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        runs.append(1)

    setpoint_cluster.create(gadget())
    setpoint_cluster.start(controller)
    setpoint_cluster.advance(timedelta(minutes=4))
    assert len(runs) > 400
    assert loops(warned) == []


def test_a_person_who_is_corrected_three_times_is_no_fight(setpoint_cluster: Cluster, warned: pytest.LogCaptureFixture) -> None:
    controller = Controller(Gadget)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        one = await ctx.get(Gadget, request)
        assert one is not None
        one.spec.replicas = 3
        await ctx.update(one)

    one = setpoint_cluster.create(gadget())
    setpoint_cluster.start(controller)
    for wished in (4, 5, 6):
        setpoint_cluster.settle()
        one = setpoint_cluster.refresh(one)
        one.spec.replicas = wished
        setpoint_cluster.update(one)
    setpoint_cluster.settle()
    assert setpoint_cluster.refresh(one).spec.replicas == 3
    assert loops(warned) == []


def test_retries_of_a_failure_are_no_circle(setpoint_cluster: Cluster, warned: pytest.LogCaptureFixture) -> None:
    controller = Controller(Gadget)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        raise RuntimeError("no")

    setpoint_cluster.create(gadget())
    setpoint_cluster.start(controller)
    setpoint_cluster.advance(timedelta(hours=1))
    assert loops(warned) == []
