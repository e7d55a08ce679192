"""Careful verbs under misuse and bad luck: prune, finalizers, effects. Each of these has deleted, leaked or hidden something somewhere."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from typing import Any

import pytest

from setpoint.api import Operation
from setpoint.api.status import AlreadyExists, bad_request
from setpoint.client import Client, Connection
from setpoint.cluster import ControlPlane
from setpoint.controller import Context, Controller, EffectCalled, PruneRefused, SyncContext
from setpoint.controller.runtime import reconcile_once
from setpoint.k8s.core.v1 import ConfigMap
from setpoint.objects import Index, ObjectMeta, Request, Untyped
from setpoint.world import World, simulate

from .fakes import Gadget, GadgetSpec, Part, Rig, gadget, part
from .test_context import A, controller_of, in_first_run, in_one_run

BY_SIZE: Index[Part] = Index(Part, lambda obj: [str(obj.spec.size)])
GADGETS: Index[Gadget] = Index(Gadget, lambda obj: [str(obj.spec.size)])


def bare(name: str) -> Part:
    """A part that does not say its namespace: `apply` puts it beside its owner."""
    return Part(metadata=ObjectMeta(name=name), spec=GadgetSpec(size=1))


# ---- prune


def test_what_is_kept_may_be_named_as_it_was_applied_without_a_namespace() -> None:
    async def body(ctx: Context) -> None:
        owner = await ctx.get(Gadget, A)
        wanted = [bare("one"), bare("two")]
        await ctx.apply_all(wanted, owner=owner)
        await ctx.apply(bare("three"), owner=owner)
        assert await ctx.prune(Part, owner=owner, keep=wanted) == [Request("ns", "three")]

    assert sorted(in_first_run(body).server.names(Part)) == ["one", "two"]


def test_what_is_kept_must_say_where_it_is_if_nothing_else_does() -> None:
    async def body(ctx: Context) -> None:
        with pytest.raises(ValueError, match="in which namespace is Part 'one'"):
            await ctx.prune(Part, labels="app=x", keep=[bare("one")])
        assert await ctx.prune(Part, labels="app=x", namespace="ns", keep=[bare("one")]) == []

    rig = in_first_run(body, lambda rig: rig.server.put(part("one", labels={"app": "x"})))
    assert rig.server.names(Part) == ["one"]


@pytest.mark.parametrize("keep", [part("one"), [{"metadata": {"name": "one"}}], ["one"], [None], [Request("ns", "one")]], ids=repr)
def test_what_is_kept_are_objects_and_nothing_is_deleted_for_a_mistake(keep: Any) -> None:
    async def body(ctx: Context) -> None:
        with pytest.raises(TypeError, match="keep takes a list of objects"):
            await ctx.prune(Part, labels="app=x", keep=keep)

    rig = in_first_run(body, lambda rig: rig.server.put(part("one", labels={"app": "x"})))
    assert rig.server.names(Part) == ["one"]


@pytest.mark.parametrize("labels", [None, "", {}])
def test_an_owner_that_no_server_has_named_prunes_nothing(labels: Any) -> None:
    async def body(ctx: Context) -> None:
        with pytest.raises(ValueError, match="no uid"):
            await ctx.prune(Part, owner=gadget(), labels=labels, keep=[])

    rig = in_first_run(body, lambda rig: rig.server.put(part("one")))
    assert rig.server.names(Part) == ["one"]


def test_an_index_of_another_kind_is_refused_and_does_not_find_nothing() -> None:
    async def body(ctx: Context) -> None:
        for live in (False, True):
            with pytest.raises(TypeError, match="is an index of Gadget, and finds no Part"):
                await ctx.list(Part, index=GADGETS("1"), live=live)
        with pytest.raises(TypeError, match="is an index of Gadget"):
            await ctx.prune(Part, index=GADGETS("1"), keep=[])

    in_first_run(body)


def test_several_conditions_of_a_prune_must_all_hold() -> None:
    def prepare(rig: Rig) -> None:
        rig.server.put(part("one", size=1, labels={"app": "x"}))
        rig.server.put(part("two", size=2, labels={"app": "x"}))
        rig.server.put(part("three", size=2))

    async def body(ctx: Context) -> None:
        assert await ctx.prune(Part, labels="app=x", index=BY_SIZE("2"), keep=[]) == [Request("ns", "two")]

    assert in_first_run(body, prepare, indexes=[BY_SIZE]).server.names(Part) == ["one", "three"]


def test_prune_is_refused_when_a_create_failed_in_this_run_but_not_for_one_that_exists_already() -> None:
    def refuse(operation: Operation) -> Any:
        return bad_request("no").status.answer() if operation.verb == "create" and b"bad" in operation.body else None

    async def body(ctx: Context) -> None:
        with pytest.raises(AlreadyExists):
            await ctx.create(part("one"))
        assert await ctx.prune(Part, labels="app=x", keep=[]) == [Request("ns", "one")]
        with contextlib.suppress(Exception):
            await ctx.create(part("bad"))
        with pytest.raises(PruneRefused, match="no"):
            await ctx.prune(Part, labels="app=x", keep=[])

    def prepare(rig: Rig) -> None:
        rig.server.put(part("one", labels={"app": "x"}))
        rig.server.mischief = refuse

    in_first_run(body, prepare)


def test_a_prune_from_a_stale_cache_spares_the_successor_under_the_same_name() -> None:
    def prepare(rig: Rig) -> None:
        rig.server.put(part("one", labels={"app": "x"}))

    async def main(world: World) -> None:
        rig = Rig(world)
        rig.server.put(gadget())
        prepare(rig)
        done = asyncio.Event()

        async def body(ctx: Context) -> None:
            if not done.is_set():
                rig.server.hold()
                rig.server.remove(part("one"))
                rig.server.put(part("one", labels={"app": "theirs"}))
                await ctx.prune(Part, labels="app=x", keep=[])
                done.set()

        async with rig.running(controller_of(body, owns=[Part])):
            await done.wait()
            assert rig.server.names(Part) == ["one"]

    simulate(main)


# ---- finalizers


def test_a_run_does_not_go_on_as_if_its_finalizer_were_there_when_the_object_terminates_already() -> None:
    """Else what it makes outside the cluster after that is never cleaned up: no run will be held back for it."""
    made: list[str] = []

    async def main(world: World) -> None:
        rig = Rig(world)
        rig.server.put(gadget(finalizers=["other/y"]))
        held = asyncio.Event()

        async def body(ctx: Context) -> None:
            obj = await ctx.get(Gadget, A)
            if not held.is_set():
                rig.server.hold()
                await rig.client.delete(obj)
                held.set()
            if obj is None or obj.is_terminating:
                return
            await ctx.add_finalizer(obj, "mine/x")
            made.append("outside")

        async with rig.running(controller_of(body)):
            await held.wait()
            await asyncio.sleep(60)
        assert rig.server.read(Gadget).metadata.finalizers == ["other/y"]
        assert len(rig.runs("a")) == 2  # and the second saw that it terminates, though the watch is held back
        assert [run.result for run in rig.runs("a")] == ["requeue", "success"]

    simulate(main)
    assert made == []


def test_a_run_does_not_go_on_as_if_its_finalizer_were_there_when_the_object_is_gone() -> None:
    made: list[str] = []

    async def main(world: World) -> None:
        rig = Rig(world)
        rig.server.put(gadget())
        held = asyncio.Event()

        async def body(ctx: Context) -> None:
            obj = await ctx.get(Gadget, A)
            if not held.is_set():
                rig.server.hold()
                rig.server.remove(gadget())
                held.set()
            if obj is None or obj.is_terminating:
                return
            await ctx.add_finalizer(obj, "mine/x")
            made.append("outside")

        async with rig.running(controller_of(body)):
            await held.wait()
            await asyncio.sleep(60)
        assert [run.result for run in rig.runs("a")] == ["requeue", "success"]

    simulate(main)
    assert made == []


def test_finalizers_of_an_object_without_a_class_are_brought_up_to_date_too() -> None:
    async def body(ctx: Context) -> None:
        written = await ctx.create(ConfigMap(metadata=ObjectMeta(name="a", namespace="default")))
        obj = Untyped({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default", "uid": written.uid}})
        obj["metadata"]["resourceVersion"] = written.metadata.resource_version
        await ctx.add_finalizer(obj, "mine/x")
        assert obj.metadata.finalizers == ["mine/x"]
        await ctx.add_finalizer(obj, "mine/x")
        await ctx.remove_finalizer(obj, "mine/x")
        assert obj.metadata.finalizers == []

    async def main(world: World) -> None:
        async with ControlPlane(world, controllers=False) as plane:
            client = Client(Connection(plane.transport(), world))
            await reconcile_once(controller_of(body), A, world=world, client=client)

    simulate(main)


def test_an_object_that_was_not_read_has_no_finalizers_to_set() -> None:
    async def body(ctx: Context) -> None:
        with pytest.raises(ValueError, match="was not read from a server"):
            await ctx.add_finalizer(gadget(), "mine/x")

    in_first_run(body)


# ---- effects


def test_an_effect_that_cannot_be_awaited_is_a_failure_that_says_so() -> None:
    made: list[int] = []

    def blocking(value: int) -> int:
        made.append(value)
        return value

    async def call() -> None:
        made.append(0)

    async def body(ctx: Context) -> None:
        with pytest.raises(TypeError, match="blocking gave int, which cannot be awaited: make it async"):
            await ctx.effect(blocking, 1)  # type: ignore[arg-type]
        coroutine = call()
        with pytest.raises(TypeError, match="pass the function itself, and its arguments after it"):
            await ctx.effect(coroutine)  # type: ignore[arg-type]

    told = in_one_run(body).heard(EffectCalled)
    assert [event.error.partition(":")[0] for event in told] == ["TypeError"]
    assert made == [1]


def test_a_plain_function_that_gives_something_to_await_is_an_effect() -> None:
    async def call(value: int) -> int:
        return value

    class Client:
        async def __call__(self, value: int) -> int:
            return value

    async def body(ctx: Context) -> None:
        assert await ctx.effect(lambda: call(1)) == 1
        assert await ctx.effect(functools.partial(call, 2)) == 2
        assert await ctx.effect(Client(), 3) == 3

    assert len(in_one_run(body).heard(EffectCalled)) == 3


def test_an_async_effect_of_a_plain_def_reconciler_is_refused_and_not_silently_left_undone() -> None:
    async def call() -> None: ...

    controller: Controller[Any] = Controller(Gadget)
    said: list[str] = []

    @controller.reconciler
    def reconcile(ctx: SyncContext, request: Request) -> None:
        for wrong in (call, lambda: call()):
            with pytest.raises(TypeError, match=r"that nobody awaits|is async") as raised:
                ctx.effect(wrong)
            said.append(str(raised.value))

    async def main(world: World) -> Rig:
        rig = Rig(world)
        await reconcile_once(controller, A, world=world, client=rig.client)
        return rig

    told = simulate(main).heard(EffectCalled)
    assert len(said) == 2
    assert len(told) == 1  # of that of which it could not be known before
    assert told[0].error.startswith("TypeError")


def test_an_effect_that_is_cancelled_at_the_deadline_is_told_with_its_error() -> None:
    async def hangs() -> None:
        await asyncio.sleep(1_000_000)

    async def body(ctx: Context) -> None:
        await ctx.effect(hangs)

    async def main(world: World) -> Rig:
        rig = Rig(world)
        rig.server.put(gadget())
        async with rig.running(controller_of(body, deadline=5)):
            await asyncio.sleep(5.5)
        return rig

    (told, *_) = simulate(main).heard(EffectCalled)
    assert told.error == "CancelledError"
    assert told.seconds == 5
