"""Controllers that write for ever: what they write is not what they read, a clock ticks in it, or another one writes against them."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Annotated, Any

import pytest

from setpoint import Condition, Context, Controller, Field, Object, ObjectMeta, Request, Resource, Struct, kind, predicates
from setpoint.controller.events import RunStarted
from setpoint.k8s.apps.v1 import Deployment, DeploymentSpec
from setpoint.k8s.core.v1 import Container, PodSpec, PodTemplateSpec, Service, ServicePort, ServiceSpec
from setpoint.k8s.meta.v1 import LabelSelector

from .faults import Line
from .planes import Embedded, Real
from .scenes import Thing, ThingSpec


class CoolerSpec(Struct):
    cooldown_period: Annotated[int, Field(format="int32")] = 300


class CoolerStatus(Struct):
    running: bool = False


@kind(group="pains.example.com", version="v1")
class Cooler(Resource[CoolerSpec, CoolerStatus]):
    """A kind with a number of a format."""


def writes(line: Line) -> list[str]:
    """What a process has written."""
    return [str(operation) for operation in line.operations if operation.is_write]


def state_of(obj: Object) -> tuple[Any, ...]:
    """What moves when somebody writes."""
    meta = obj.metadata
    return meta.resource_version, meta.generation, [(entry.manager, entry.time) for entry in meta.managed_fields]


# ---- applying what is there already


def test_applying_a_typed_service_again_changes_nothing(cluster: Embedded | Real) -> None:
    """kubernetes-sigs/controller-runtime#1669: a typed Service sends `targetPort: 0`, its zero value, which the server takes for absent and
    replaces by a default. So each apply makes a new version, which makes an event, which makes an apply.
    """
    service = Service(metadata=cluster.meta("web"), spec=ServiceSpec(selector={"app": "web"}, ports=[ServicePort(name="foo", port=80)]))
    first = state_of(cluster.apply(service))
    cluster.advance(timedelta(seconds=15))  # so that a time that is taken would be another one
    assert [state_of(cluster.apply(service)) for _ in range(4)] == [first] * 4


def test_applying_a_custom_object_again_changes_neither_version_nor_times(cluster: Embedded | Real) -> None:
    """kubernetes/kubernetes#95460: applying the same object of a kind with an int32 field raises its generation and version and moves the
    times in managedFields, each time.
    """
    cooler = Cooler(metadata=cluster.meta("cooler"), spec=CoolerSpec(cooldown_period=600))
    first = state_of(cluster.apply(cooler))
    cluster.advance(timedelta(seconds=15))
    assert [state_of(cluster.apply(cooler)) for _ in range(4)] == [first] * 4


def _deployment(request: Request, image: str) -> Deployment:
    """A deployment that states little, and leaves the rest to the server's defaults."""
    labels = {"app": request.name}
    template = PodTemplateSpec(metadata=ObjectMeta(labels=labels), spec=PodSpec(containers=[Container(name="main", image=image)]))
    spec = DeploymentSpec(replicas=0, selector=LabelSelector(match_labels=labels), template=template)
    return Deployment(metadata=ObjectMeta(name=request.name, namespace=request.namespace), spec=spec)


def _applying() -> Controller[Thing]:
    applying = Controller(Thing, name="applying", owns=[Deployment])

    @applying.reconciler
    async def apply(ctx: Context, request: Request) -> None:
        thing = await ctx.get(Thing, request)
        if thing is not None:
            await ctx.apply(_deployment(request, thing.spec.value), owner=thing)

    return applying


def _replacing() -> Controller[Thing]:
    replacing = Controller(Thing, name="replacing", owns=[Deployment])

    @replacing.reconciler
    async def replace(ctx: Context, request: Request) -> None:
        thing, found = await ctx.get(Thing, request), await ctx.get(Deployment, request)
        if thing is None:
            return
        wanted = _deployment(request, thing.spec.value)
        if found is None:
            await ctx.create(wanted, owner=thing)
        else:
            found.spec = wanted.spec  # all of it: what the server had added is not in it
            await ctx.update(found)

    return replacing


@pytest.mark.parametrize("declare", [_applying, _replacing])
def test_a_child_that_the_server_completes_with_defaults_is_not_written_for_ever(cluster: Embedded | Real, declare: Any) -> None:
    """valkey-io/valkey-operator#315, openshift/hive#2943: create-or-update replaces the child's whole spec; the server adds its defaults
    again; the difference never ends. In hive the requests of it cost another operator its lease.
    """
    thing = cluster.thing(value="nginx:1")
    line = cluster.launch(declare())
    cluster.settle()
    cluster.edit(thing, value="nginx:2")
    cluster.settle()
    asked = len(writes(line))
    cluster.settle(timedelta(hours=1))
    child = cluster.get(Deployment, thing.key)
    assert child.spec.template.spec.containers[0].image == "nginx:2"
    assert child.metadata.generation == 2
    assert asked < 12, writes(line)  # some for each change of the child's status
    assert len(writes(line)) == asked


# ---- own writes that differ each time


def test_a_condition_that_is_set_in_each_run_does_not_make_the_next_run(cluster: Embedded | Real) -> None:
    """volcano-sh/agentcube#261, kubeflow/notebooks#1343, Hostzero keycloak-operator#121: each run writes a condition whose
    lastTransitionTime is now; the write makes an event, the event a run.
    """
    ready = Controller(Thing, name="ready")

    @ready.reconciler
    async def report(ctx: Context, request: Request) -> None:
        thing = await ctx.get(Thing, request)
        if thing is not None:
            ctx.set_condition(thing, "Ready", True, reason="Done")
            await ctx.update_status(thing)

    thing = cluster.thing()
    line = cluster.launch(ready)
    cluster.settle()
    before = cluster.refresh(thing).status.conditions[0].last_transition_time
    cluster.advance(timedelta(seconds=20))
    cluster.edit(thing, value="changed")
    cluster.settle(timedelta(hours=1))
    assert cluster.refresh(thing).status.conditions[0].last_transition_time == before
    assert len(writes(line)) == 2, "the second one says that the new generation was seen"
    assert len(cluster.heard(RunStarted, controller="ready")) <= 4


def test_a_reason_that_differs_in_each_run_does_not_make_the_next_run(cluster: Embedded | Real) -> None:
    """ray-project/kuberay PR#639: the error put into the status names a pod whose name is generated anew in each run, so that each run's
    write makes the next run. A controller whose own status is no reason to run is declared so with a predicate.
    """
    failing, runs = Controller(Thing, name="failing", predicate=predicates.generation_changed), list[str]()

    @failing.reconciler
    async def fail(ctx: Context, request: Request) -> None:
        thing = await ctx.get(Thing, request)
        if thing is not None:
            runs.append(thing.spec.value)
            thing.status.phase = f"pod {thing.name}-{len(runs):05} cannot be created"
            await ctx.update_status(thing)

    thing = cluster.thing(value="1")
    line = cluster.launch(failing)
    cluster.settle(timedelta(hours=1))
    cluster.edit(thing, value="2")
    cluster.settle(timedelta(hours=1))
    assert runs == ["1", "2"]
    assert len(writes(line)) == 2


@pytest.mark.parametrize(("clock", "path"), [(True, "lastTransitionTime"), (False, "status.phase")])
def test_a_loop_of_an_authors_making_is_said_with_the_field_that_never_rests(
    cluster: Embedded | Real, caplog: pytest.LogCaptureFixture, clock: bool, path: str
) -> None:
    """volcano-sh/agentcube#261, ray-project/kuberay PR#639: the same two, by a controller that writes the time of day, or a name that is
    never the same, by hand. No framework can forbid that; but nobody noticed for weeks.
    """
    looping, runs = Controller(Thing, name="looping"), list[str]()

    @looping.reconciler
    async def loop(ctx: Context, request: Request) -> None:
        thing = await ctx.get(Thing, request)
        if thing is None:
            return
        runs.append(request.name)
        if clock:
            now = ctx.now().replace(microsecond=0) + timedelta(seconds=len(runs))
            thing.status.conditions = [Condition(type="Ready", status="True", reason="Done", message="", last_transition_time=now)]
        else:
            thing.status.phase = f"pod {thing.name}-{len(runs):05} cannot be created"
        await ctx.update_status(thing)
        if len(runs) == 100:
            await asyncio.Event().wait()  # enough

    cluster.thing()
    cluster.launch(looping)
    cluster.until(lambda: len(runs) == 100)
    (said,) = [record for record in caplog.records if "triggers the next run" in record.getMessage()]
    assert path in said.getMessage()
    assert (said.controller, said.request) == ("looping", f"{cluster.namespace}/a")


# ---- two against each other


def test_two_controllers_that_fight_over_a_field_are_both_named(cluster: Embedded | Real, caplog: pytest.LogCaptureFixture) -> None:
    """openshift/hive#2943, valkey-io/valkey-operator#315: what one writes another one sets back, thousands of times, until something else
    breaks. Who they are and which field they mean must be said once.
    """
    rounds: list[str] = []

    def painter(name: str, color: str) -> Controller[Thing]:
        painting = Controller(Thing, name=name)

        @painting.reconciler
        async def paint(ctx: Context, request: Request) -> None:
            thing = await ctx.get(Thing, request)
            if thing is not None and thing.spec.value != color and len(rounds) < 60:
                rounds.append(name)
                thing.spec.value = color
                await ctx.update(thing)

        return painting

    cluster.thing(value="white")
    for name, color in (("red-team", "red"), ("blue-team", "blue")):
        cluster.launch(painter(name, color))
    cluster.settle()
    assert len(rounds) == 60
    said = [record.getMessage() for record in caplog.records if "fight over" in record.getMessage()]
    assert 1 <= len(said) <= 2  # each process tells once
    for text in said:
        assert "red-team" in text
        assert "blue-team" in text
        assert "spec.value of Thing" in text


def test_two_controllers_with_the_same_finalizer_do_not_add_and_remove_it_in_turns(cluster: Embedded | Real) -> None:
    """nolar/kopf#664, #601, kube-rs/kube#279: two operators, or two versions of one, go by the same finalizer. The one that has something
    to clean up adds it, the one that has not removes it, for ever; and a deletion that one has still to handle never ends.
    """
    finalizer = "pains.example.com/cleanup"
    cleaning, plain, cleaned = Controller(Thing, name="cleaning"), Controller(Thing, name="plain"), list[str]()

    @cleaning.reconciler
    async def clean(ctx: Context, request: Request) -> None:
        thing = await ctx.get(Thing, request)
        if thing is None:
            return
        if thing.is_terminating:
            cleaned.append(thing.name)
            await ctx.remove_finalizer(thing, finalizer)
        else:
            await ctx.add_finalizer(thing, finalizer)

    @plain.reconciler
    async def look(ctx: Context, request: Request) -> None:
        thing = await ctx.get(Thing, request)
        if thing is not None and thing.is_terminating:
            await ctx.remove_finalizer(thing, finalizer)

    thing = cluster.thing()
    lines = [cluster.launch(cleaning), cluster.launch(plain)]
    cluster.settle(timedelta(hours=1))
    assert cluster.refresh(thing).metadata.finalizers == [finalizer]
    assert sum(len(writes(line)) for line in lines) == 1
    cluster.delete(thing)
    cluster.settle(timedelta(hours=1))
    assert cluster.get(Thing, thing.key) is None
    assert sum(len(writes(line)) for line in lines) <= 5


def test_nothing_is_put_on_an_object_that_nobody_cleans_up_after(cluster: Embedded | Real) -> None:
    """nolar/kopf#664, GoogleCloudPlatform/metacontroller#171, #197, kubernetes-sigs/controller-runtime#2831: a finalizer is added for a
    handler that does not exist, or does not apply, and removed when that is noticed.
    """
    looking = Controller(Thing, name="looking")

    @looking.reconciler
    async def look(ctx: Context, request: Request) -> None:
        await ctx.get(Thing, request)

    thing = cluster.create(Thing(metadata=cluster.meta("a"), spec=ThingSpec()))
    line = cluster.launch(looking)
    cluster.settle(timedelta(hours=1))
    assert writes(line) == []
    assert cluster.refresh(thing) == thing
    cluster.delete(thing)
    assert cluster.get(Thing, thing.key) is None
