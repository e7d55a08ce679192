"""What a reconciler's context promises: reads, own writes, the apply memo, careful deletes and finalizers, and its end."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
from collections.abc import Awaitable, Callable

import pytest

from setpoint.api import Operation
from setpoint.api.status import Conflict
from setpoint.client.errors import OwnerRefused
from setpoint.controller import (
    ApplyMemo,
    ApplySkipped,
    Context,
    Controller,
    EffectCalled,
    PruneRefused,
    Result,
    SyncContext,
    reconcile_once,
)
from setpoint.objects import DecodeError, Index, ObjectMeta, Request
from setpoint.world import World, real_world, simulate

from .fakes import Gadget, GadgetSpec, Part, Rig, Zone, gadget, part

A = Request("ns", "a")
Body = Callable[[Context], Awaitable[object]]


def controller_of(body: Body, **declared: object) -> Controller[Gadget]:
    controller = Controller(Gadget, **declared)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        await body(ctx)

    return controller


def in_one_run(body: Body, prepare: Callable[[Rig], None] = lambda rig: None) -> Rig:
    """Runs the body once, without a cache; its exception is raised."""

    async def main(world: World) -> Rig:
        rig = Rig(world)
        prepare(rig)
        await reconcile_once(controller_of(body), A, world=world, client=rig.client)
        return rig

    return simulate(main)


def in_first_run(body: Body, prepare: Callable[[Rig], None] = lambda rig: None, **declared: object) -> Rig:
    """Runs the body once, with synced caches of gadgets and parts, watches held back; its exception is raised."""

    async def main(world: World) -> Rig:
        rig = Rig(world)
        rig.server.put(gadget())
        prepare(rig)
        outcome: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        async def once(ctx: Context) -> None:
            if not outcome.done():
                rig.server.hold()
                rig.server.operations.clear()
                try:
                    await body(ctx)
                    outcome.set_result(None)
                except Exception as error:
                    outcome.set_exception(error)

        async with rig.running(controller_of(once, owns=[Part], **declared)):
            await outcome
        return rig

    return simulate(main)


# ---- reads


def test_a_run_sees_its_own_writes_by_get_and_list_while_the_watch_is_held_back_and_reads_nothing_live() -> None:
    async def body(ctx: Context) -> None:
        owner = await ctx.get(Gadget, A)
        assert owner is not None
        made = await ctx.create(part("made"), owner=owner)
        applied = await ctx.apply(part("applied"), owner=owner)
        assert [obj.name for obj in await ctx.list(Part, owner=owner)] == ["applied", "made"]
        made.spec.size = 7
        await ctx.update(made)
        assert (await ctx.get(Part, made.key)).spec.size == 7
        await ctx.delete(applied)
        assert await ctx.get(Part, applied.key) is None
        assert [obj.name for obj in await ctx.list(Part)] == ["made"]

    rig = in_first_run(body)
    assert [operation.verb for operation in rig.server.operations if not operation.is_write] == []


def test_objects_that_are_read_are_the_callers_own() -> None:
    async def body(ctx: Context) -> None:
        one = await ctx.get(Gadget, A)
        assert one is not None
        one.spec.size = 99
        other = await ctx.get(Gadget, A)
        assert other is not None
        assert other.spec.size == 1

    in_first_run(body)


def test_a_read_that_no_informer_covers_goes_live_and_says_so_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)

    async def body(ctx: Context) -> None:
        for _ in range(3):
            assert await ctx.get(Zone, "z") is not None
            assert [zone.name for zone in await ctx.list(Zone)] == ["z"]

    rig = in_first_run(body, lambda rig: rig.server.put(Zone(metadata=ObjectMeta(name="z"), spec=GadgetSpec())))
    assert len([operation for operation in rig.server.operations if operation.verb in ("get", "list")]) == 6
    assert len([record for record in caplog.records if "go to the API server each time" in record.getMessage()]) == 1


def test_what_a_filtered_cache_is_missing_is_read_live_and_what_it_has_is_served() -> None:
    async def body(ctx: Context) -> None:
        assert await ctx.get(Gadget, A) is not None
        assert (await ctx.get(Gadget, Request("ns", "hidden"))) is not None, "not in the cache is no proof of absence"
        assert await ctx.get(Gadget, Request("ns", "nowhere")) is None
        assert [obj.name for obj in await ctx.list(Gadget, labels="team=x")] == ["a"]
        assert [obj.name for obj in await ctx.list(Gadget)] == ["a", "hidden"]

    def prepare(rig: Rig) -> None:
        rig.server.put(gadget(labels={"team": "x"}))
        rig.server.put(gadget("hidden"))

    rig = in_first_run(body, prepare, labels="team=x")
    assert [operation.verb for operation in rig.server.operations] == ["get", "get", "list"]


def test_an_index_finds_in_the_cache_and_live_alike() -> None:
    by_size = Index(Part, lambda obj: [str(obj.spec.size)])

    async def body(ctx: Context) -> None:
        for live in (False, True):
            assert [obj.name for obj in await ctx.list(Part, index=by_size("2"), live=live)] == ["b", "c"]

    def prepare(rig: Rig) -> None:
        for name, size in (("a", 1), ("b", 2), ("c", 2)):
            rig.server.put(part(name, size))

    in_first_run(body, prepare, indexes=[by_size])


# ---- apply


def test_an_apply_that_changes_nothing_is_free_and_a_foreign_change_ends_that() -> None:
    async def main(world: World) -> None:
        rig = Rig(world)
        rig.server.put(gadget())

        async def body(ctx: Context) -> None:
            await ctx.apply(part(), owner=await ctx.get(Gadget, A))

        async with rig.running(controller_of(body, owns=[Part])):
            await asyncio.sleep(1)
            assert len(rig.server.writes) == 1
            rig.server.put(gadget(size=2))  # another run
            await asyncio.sleep(1)
            assert len(rig.server.writes) == 1
            assert rig.heard(ApplySkipped)
            child = rig.server.read(Part)
            rig.server._store("parts", A, {**rig.server.objects["parts", A], "status": {"seen": 5}})  # its status churns
            await asyncio.sleep(1)
            assert len(rig.server.writes) == 1
            assert child is not None
            rig.server.put(part(size=9))  # somebody changes what we state
            await asyncio.sleep(1)
            assert len(rig.server.writes) == 2
            assert rig.server.read(Part).spec.size == 1
            rig.server.remove(part())
            await asyncio.sleep(1)
            assert len(rig.server.writes) == 3
            assert rig.server.names(Part) == ["a"]

    simulate(main)


def test_an_apply_is_not_taken_for_settled_by_a_version_that_a_restored_server_has_used_once_more() -> None:
    async def main(world: World) -> None:
        rig = Rig(world)
        rig.server.put(part())
        informer = rig.cache.informer(Part)
        caching = asyncio.ensure_future(rig.cache.run())
        await rig.cache.synced()
        memo = ApplyMemo()
        apply = await rig.client.prepare_apply(part())
        answer = informer.get(A)
        assert answer is not None
        memo.answered(apply, answer, [informer])
        assert memo.is_settled(apply, answer)
        assert memo.is_settled(apply, answer.replace(b'"resourceVersion": "1"', b'"resourceVersion": "8"'))
        assert not memo.is_settled(apply, answer.replace(b'"size": 1', b'"size": 9'))
        assert memo.is_settled(apply, answer)
        caching.cancel()

    simulate(main)


def test_what_was_applied_is_forgotten_when_it_is_gone_also_where_another_controller_watches_it() -> None:
    async def main(world: World) -> None:
        rig = Rig(world)
        rig.server.put(gadget())

        async def body(ctx: Context) -> None:
            obj = await ctx.get(Gadget, A)
            await ctx.apply(part(f"part-{obj.spec.size}"))

        watcher = Controller(Part, reconciler=lambda ctx, request: None)
        async with rig.running(controller_of(body), watcher) as [runtime, _]:
            for size in range(2, 8):
                rig.server.put(gadget(size=size))
                await asyncio.sleep(1)
            assert len(runtime.tools.memo) == 7
            for name in rig.server.names(Part):
                rig.server.remove(part(name))
            await asyncio.sleep(1)
            assert len(runtime.tools.memo) == 0

    simulate(main)


def test_a_skipped_apply_gives_the_object_as_the_cache_has_it_now() -> None:
    async def body(ctx: Context) -> None:
        owner = await ctx.get(Gadget, A)
        first = await ctx.apply(part(), owner=owner)
        first.status.seen = 3
        await ctx.update_status(first)
        assert (await ctx.apply(part(), owner=owner)).status.seen == 3

    rig = in_first_run(body)
    assert len(rig.server.writes) == 2


def test_an_owner_in_another_namespace_is_refused_before_anything_is_sent() -> None:
    async def body(ctx: Context) -> None:
        stray = Part(metadata=ObjectMeta(name="a", namespace="elsewhere"), spec=GadgetSpec())
        with pytest.raises(OwnerRefused, match=r"label.*index.*prune"):
            await ctx.apply(stray, owner=await ctx.get(Gadget, A))

    assert in_first_run(body).server.writes == []


def test_a_kind_that_is_applied_and_updated_is_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    async def body(ctx: Context) -> None:
        obj = await ctx.apply(part(), owner=await ctx.get(Gadget, A))
        for size in (2, 3):
            obj.spec.size = size
            await ctx.update(obj)

    in_first_run(body)
    assert len([record for record in caplog.records if "both applies and updates parts" in record.getMessage()]) == 1


def test_writes_carry_the_controllers_name_as_field_manager_and_name_the_run_for_observers() -> None:
    async def body(ctx: Context) -> None:
        await ctx.apply(part())

    (write,) = [operation for operation in in_first_run(body).server.operations if operation.is_write]
    assert write.options["fieldManager"] == "gadget"
    assert write.run == "gadget ns/a"


# ---- deletes


def test_a_delete_carries_the_uid_so_that_a_successor_under_the_same_name_survives() -> None:
    async def main(world: World) -> None:
        rig = Rig(world)
        old = rig.server.put(part())

        async def body(ctx: Context) -> None:
            rig.server.remove(part())
            rig.server.put(part(size=2))
            await ctx.delete(old)
            await ctx.delete(part("gone"))

        await reconcile_once(controller_of(body), A, world=world, client=rig.client)
        assert rig.server.names(Part) == ["a"]

    simulate(main)


def test_a_deleted_object_that_waits_for_its_finalizers_is_seen_terminating_not_gone() -> None:
    async def body(ctx: Context) -> None:
        obj = await ctx.get(Part, A)
        await ctx.delete(obj)
        seen = await ctx.get(Part, A)
        assert seen is not None
        assert seen.is_terminating
        await ctx.remove_finalizer(seen, "x/y")
        assert await ctx.get(Part, A) is None

    rig = in_first_run(body, lambda rig: rig.server.put(part(finalizers=["x/y"])))
    assert rig.server.names(Part) == []


def test_prune_deletes_what_is_not_kept_and_nothing_of_others() -> None:
    async def body(ctx: Context) -> None:
        owner = await ctx.get(Gadget, A)
        kept = await ctx.apply_all([part("one"), part("two")], owner=owner)
        await ctx.apply(part("three"), owner=owner)
        assert await ctx.prune(Part, owner=owner, keep=kept) == [Request("ns", "three")]
        assert await ctx.prune(Part, owner=owner, keep=kept) == []

    rig = in_first_run(body, lambda rig: rig.server.put(part("foreign")))
    assert sorted(rig.server.names(Part)) == ["foreign", "one", "two"]


def test_prune_is_refused_when_an_apply_failed_in_this_run_even_if_that_was_caught() -> None:
    def refuse(operation: Operation) -> None:
        from setpoint.api.status import bad_request

        if operation.verb == "patch" and operation.name == "bad":
            return bad_request("no").status.answer()
        return None

    async def body(ctx: Context) -> None:
        owner = await ctx.get(Gadget, A)
        await ctx.apply(part("one"), owner=owner)
        with contextlib.suppress(Exception):
            await ctx.apply(part("bad"), owner=owner)
        with pytest.raises(PruneRefused, match="no"):
            await ctx.prune(Part, owner=owner, keep=[])

    def prepare(rig: Rig) -> None:
        rig.server.mischief = refuse

    assert in_first_run(body, prepare).server.names(Part) == ["one"]


def test_prune_is_refused_when_an_apply_failed_before_it_was_sent() -> None:
    """What a cache holds may be unreadable, which is found out between the preparation of an apply and its request."""

    def unreadable(info: object, key: Request) -> bytes:
        return b'{"metadata":{"ownerReferences":7}}'

    async def body(ctx: Context) -> None:
        owner = await ctx.get(Gadget, A)
        ctx.client.base = unreadable
        with pytest.raises(DecodeError):
            await ctx.apply(part("one"), owner=owner)
        with pytest.raises(PruneRefused, match="ownerReferences"):
            await ctx.prune(Part, owner=owner, keep=[])

    in_first_run(body)


def test_prune_of_everything_is_refused() -> None:
    async def body(ctx: Context) -> None:
        with pytest.raises(ValueError, match="every Part there is"):
            await ctx.prune(Part, keep=[])

    in_first_run(body)


# ---- finalizers


def test_finalizers_touch_only_their_own_entry() -> None:
    async def body(ctx: Context) -> None:
        obj = await ctx.get(Gadget, A)
        await ctx.add_finalizer(obj, "mine/x")
        await ctx.add_finalizer(obj, "mine/x")
        assert obj.metadata.finalizers == ["other/y", "mine/x"]
        obj.status.seen = 4
        await ctx.update_status(obj)  # no conflict with ourselves
        await ctx.remove_finalizer(obj, "mine/x")
        assert obj.metadata.finalizers == ["other/y"]

    rig = in_first_run(body, lambda rig: rig.server.put(gadget(finalizers=["other/y"])))
    assert len(rig.server.writes) == 3
    assert rig.server.read(Gadget).metadata.finalizers == ["other/y"]


def test_a_finalizer_is_never_added_to_a_terminating_object_also_when_only_the_server_knows() -> None:
    async def main(world: World) -> None:
        rig = Rig(world)
        stale = rig.server.put(gadget(finalizers=["other/y"]))
        await rig.client.delete(stale)

        async def body(ctx: Context) -> None:
            with pytest.raises(Conflict):  # a quiet retry, which then sees that it terminates
                await ctx.add_finalizer(stale, "mine/x")

        await reconcile_once(controller_of(body), A, world=world, client=rig.client)
        assert rig.server.read(Gadget).metadata.finalizers == ["other/y"]

    simulate(main)


def test_a_finalizer_edit_on_a_stale_object_conflicts_instead_of_bringing_back_what_another_removed() -> None:
    async def main(world: World) -> None:
        rig = Rig(world)
        stale = rig.server.put(gadget(finalizers=["job/tracking", "mine/x"]))
        other = rig.server.read(Gadget)
        metadata = {"name": "a", "namespace": "ns", "finalizers": ["mine/x"]}
        rig.server._store("gadgets", A, {**rig.server.objects["gadgets", A], "metadata": metadata})
        assert other is not None

        async def body(ctx: Context) -> None:
            with pytest.raises(Conflict):
                await ctx.remove_finalizer(stale, "mine/x")

        await reconcile_once(controller_of(body), A, world=world, client=rig.client)
        assert rig.server.read(Gadget).metadata.finalizers == ["mine/x"]

    simulate(main)


def test_removing_a_finalizer_of_an_object_that_is_gone_is_done() -> None:
    async def main(world: World) -> None:
        rig = Rig(world)
        stale = rig.server.put(gadget(finalizers=["mine/x"]))
        rig.server.remove(gadget())

        async def body(ctx: Context) -> None:
            await ctx.remove_finalizer(stale, "mine/x")

        await reconcile_once(controller_of(body), A, world=world, client=rig.client)

    simulate(main)


# ---- the rest


def test_effects_are_told_to_observers() -> None:
    async def call(value: int) -> int:
        await asyncio.sleep(2)
        if value < 0:
            raise ValueError("negative")
        return value + 1

    async def body(ctx: Context) -> None:
        assert await ctx.effect(call, 1) == 2
        with pytest.raises(ValueError, match="negative"):
            await ctx.effect(call, value=-1)

    told = in_one_run(body).heard(EffectCalled)
    assert [(event.seconds, event.error) for event in told] == [(2, ""), (2, "ValueError: negative")]


def test_an_event_is_created_beside_the_run_and_a_refusal_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def body(ctx: Context) -> None:
        ctx.event(gadget(), "Scaled", "now there are two")

    rig = in_one_run(body)
    assert rig.server.writes == ["create events.events.k8s.io in ns"]

    def prepare(rig: Rig) -> None:
        from setpoint.api.status import bad_request

        rig.server.mischief = lambda operation: bad_request("no events here").status.answer()

    in_one_run(body, prepare)
    assert "no events here" in caplog.text


def test_a_context_is_of_no_use_once_its_run_has_ended() -> None:
    async def main(world: World) -> None:
        rig = Rig(world)
        kept: list[Context] = []

        async def body(ctx: Context) -> None:
            kept.append(ctx)

        await reconcile_once(controller_of(body), A, world=world, client=rig.client)
        with pytest.raises(RuntimeError, match="its run has ended"):
            await kept[0].apply(gadget())
        with pytest.raises(RuntimeError, match="its run has ended"):
            await kept[0].get(Gadget, A)

    simulate(main)


def test_one_run_gives_its_result_and_raises_what_it_raises() -> None:
    async def main(world: World) -> None:
        rig = Rig(world)
        controller = Controller(Gadget)

        @controller.reconciler
        async def reconcile(ctx: Context, request: Request) -> Result | None:
            if await ctx.get(Gadget, request) is None:
                raise LookupError("nothing there")
            return Result(requeue_after=3)

        with pytest.raises(LookupError):
            await reconcile_once(controller, A, world=world, client=rig.client)
        rig.server.put(gadget())
        assert await reconcile_once(controller, A, world=world, client=rig.client) == Result(requeue_after=3)

    simulate(main)


# ---- plain `def` reconcilers


def test_a_plain_reconciler_has_the_same_verbs_blocking() -> None:
    async def main(world: World) -> list[str]:
        rig = Rig(world)
        rig.server.put(gadget())
        controller = Controller(Gadget, owns=[Part])

        @controller.reconciler
        def reconcile(ctx: SyncContext, request: Request) -> None:
            owner = ctx.get(Gadget, request)
            assert owner is not None
            kept = ctx.apply_all([part("one"), part("two")], owner=owner)
            ctx.prune(Part, owner=owner, keep=kept[:1])
            assert ctx.effect(lambda: 5) == 5
            with pytest.raises(ZeroDivisionError):
                ctx.effect(lambda: 1 / 0)
            ctx.event(owner, "Done", "all of it")
            owner.status.seen = len(ctx.list(Part))
            ctx.update_status(owner)

        await reconcile_once(controller, A, world=world, client=rig.client)
        assert rig.server.read(Gadget).status.seen == 1
        assert [event.error for event in rig.heard(EffectCalled)][:2] == ["", "ZeroDivisionError: division by zero"]
        return rig.server.names(Part)

    assert simulate(main) == ["one"]


def test_a_plain_reconciler_runs_in_a_real_thread() -> None:
    import threading

    async def main() -> tuple[str, str]:
        world = real_world(threads=2)
        rig = Rig(world)
        rig.server.put(gadget())
        names: list[str] = []
        controller = Controller(Gadget)

        @controller.reconciler
        def reconcile(ctx: SyncContext, request: Request) -> None:
            names.append(threading.current_thread().name)
            ctx.apply(part(), owner=ctx.get(Gadget, request))

        await reconcile_once(controller, A, world=world, client=rig.client)
        await world.threads.close()
        assert names[0] != threading.current_thread().name
        return rig.server.names(Part)[0], rig.server.writes[0]

    assert asyncio.run(main()) == ("a", "patch parts.test.example.com ns/a")


def test_a_plain_reconciler_beyond_its_deadline_ends_at_its_next_verb() -> None:
    async def main(world: World) -> None:
        rig = Rig(world)
        rig.server.put(gadget())
        controller = Controller(Gadget, deadline=0.01)
        calls: list[int] = []

        @controller.reconciler
        def reconcile(ctx: SyncContext, request: Request) -> None:
            for _ in range(100):
                ctx.get(Gadget, request, live=True)
                calls.append(1)

        async with rig.running(controller):
            await asyncio.sleep(0.016)
            (run,) = rig.runs()
            assert run.timed_out
            assert len(calls) < 10

    simulate(main)


def test_both_contexts_have_the_same_verbs_with_the_same_parameters() -> None:
    ours = {name for name in vars(SyncContext) if not name.startswith("_")}
    theirs = {name for cls in Context.__mro__[:-1] for name in vars(cls) if not name.startswith("_")} - {"begin_effect", "client", "log"}
    assert ours == theirs
    for name in ours:
        mine = inspect.signature(getattr(SyncContext, name)).parameters
        other = inspect.signature(getattr(Context, name)).parameters
        assert list(mine) == list(other), name
        assert [p.kind for p in mine.values()] == [p.kind for p in other.values()], name
