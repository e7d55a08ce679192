"""The level rules, L1 to L4, L6 and L7, each as a test that fails when the rule is broken."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import itertools
import json
import logging
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from setpoint.api import Answer, NotSent, Operation
from setpoint.api.status import Conflict, failure, modified, not_found
from setpoint.cache import Cache, Scope
from setpoint.controller import (
    Context,
    Controller,
    ControllerRuntime,
    Held,
    MapperFailed,
    Predicate,
    QueueAdded,
    Reader,
    Released,
    Result,
    RunStarted,
    SyncContext,
    TerminalError,
    predicates,
)
from setpoint.objects import ObjectMeta, Request
from setpoint.world import World, simulate

from .fakes import Gadget, GadgetSpec, Part, Rig, Zone, gadget, overlaps, part

A = Request("ns", "a")
LEAK: contextvars.ContextVar[str] = contextvars.ContextVar("leak", default="clean")


# ---- L1, L2


def reachable(ctx: Context, request: Request) -> dict[str, object]:
    """All that a reconciler can look at, as values that compare."""
    task = asyncio.current_task()
    assert task is not None
    record = {}

    class Capture(logging.Handler):
        def emit(self, log_record: logging.LogRecord) -> None:
            record.update({name: value for name, value in vars(log_record).items() if name in ("controller", "request", "name", "msg")})

    handler = Capture()
    ctx.log.logger.addHandler(handler)
    ctx.log.warning("hello")
    ctx.log.logger.removeHandler(handler)
    return {
        "request": request,
        "type of context": type(ctx),
        "attributes": sorted(name for name in dir(ctx) if not name.startswith("_")),
        "log fields": dict(ctx.log.extra or {}),
        "record": record,
        "task": task.get_name(),
        "cancelling": task.cancelling(),
        "context variables": {variable.name: value for variable, value in contextvars.copy_context().items()},
        "private state": {name: repr(value) for name, value in vars(ctx._run.__class__).items() if name in ("ended",)},
        "run state": (ctx._run.ended, ctx._run.failed_applies, ctx._run.unknown),
    }


def test_l1_l2_event_start_up_requeue_and_backoff_are_indistinguishable_to_the_reconciler() -> None:
    async def main(world: World) -> None:
        rig = Rig(world)
        rig.server.put(gadget())
        seen: list[dict[str, object]] = []
        controller = Controller(Gadget)

        @controller.reconciler
        async def reconcile(ctx: Context, request: Request) -> Result | None:
            seen.append(reachable(ctx, request))
            LEAK.set(f"run {len(seen)}")  # must not be there in the next one
            match len(seen):
                case 1:  # the start-up listing ran this
                    return Result(requeue_after=30)
                case 2:  # the timer
                    raise RuntimeError("no luck")
                case _:  # the backoff, then an event
                    return None

        async with rig.running(controller):
            await asyncio.sleep(60)
            assert len(seen) == 3
            rig.server.put(gadget(size=2))
            await asyncio.sleep(60)
        reasons = [event.reason for event in rig.heard(QueueAdded)]
        assert reasons == ["Gadget ns/a listed", "requeue_after", "failed: RuntimeError", "Gadget ns/a changed"]
        assert seen == [seen[0]] * 4

    simulate(main)


def test_l1_a_deletion_is_seen_by_reading_and_finding_nothing() -> None:
    async def main(world: World) -> list[bool]:
        rig = Rig(world)
        rig.server.put(gadget())
        found: list[bool] = []
        controller = Controller(Gadget)

        @controller.reconciler
        async def reconcile(ctx: Context, request: Request) -> None:
            found.append(await ctx.get(Gadget, request) is not None)

        async with rig.running(controller):
            await asyncio.sleep(1)
            rig.server.remove(gadget())
            await asyncio.sleep(1)
        return found

    assert simulate(main) == [True, False]


# ---- L3


def test_l3_a_key_changed_during_its_run_runs_again_and_ends_with_the_last_change() -> None:
    async def main(world: World) -> list[int]:
        rig = Rig(world)
        rig.server.put(gadget(size=1))
        sizes: list[int] = []
        controller = Controller(Gadget)

        @controller.reconciler
        async def reconcile(ctx: Context, request: Request) -> None:
            obj = await ctx.get(Gadget, request)
            assert obj is not None
            await asyncio.sleep(10)
            sizes.append(obj.spec.size)

        async with rig.running(controller):
            await asyncio.sleep(1)
            rig.server.put(gadget(size=2))
            await asyncio.sleep(1)
            rig.server.put(gadget(size=3))
            await asyncio.sleep(100)
        return sizes

    assert simulate(main) == [1, 3]


class Escape(BaseException):
    """What passes through `except Exception`."""


class Mute(Exception):
    """An error that cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


EVIL: list[BaseException] = [KeyError("label"), Escape("x"), SystemExit(3), asyncio.CancelledError(), Mute()]


@pytest.mark.parametrize("error", EVIL, ids=lambda error: type(error).__name__)
def test_l3_a_predicate_that_raises_enqueues(error: BaseException) -> None:
    async def main(world: World) -> int:
        rig = Rig(world)
        rig.server.put(gadget())

        def broken(old: Gadget | None, new: Gadget | None) -> bool:
            raise error

        controller = Controller(Gadget, predicate=Predicate(broken))
        runs: list[Request] = []

        @controller.reconciler
        async def reconcile(ctx: Context, request: Request) -> None:
            runs.append(request)

        async with rig.running(controller):
            await asyncio.sleep(1)
            rig.server.put(gadget(size=2))
            await asyncio.sleep(1)
        return len(runs)

    assert simulate(main) == 2


def test_l3_a_mapper_that_raises_is_tried_again_on_the_objects_current_level() -> None:
    async def main(world: World) -> None:
        rig = Rig(world)
        controller = Controller(Gadget)
        runs: list[Request] = []
        broken = True

        @controller.reconciler
        async def reconcile(ctx: Context, request: Request) -> None:
            runs.append(request)

        @controller.watch(Part, predicate=Predicate[Part](lambda old, new: old is None))
        async def gadget_of(obj: Part, reader: Reader) -> list[Request]:
            if broken:
                raise RuntimeError("not now")
            return [Request("ns", f"for-{obj.spec.size}")]

        async with rig.running(controller):
            rig.server.put(part(size=1))
            await asyncio.sleep(1)
            rig.server.put(part(size=5))  # the predicate lets this one pass by
            await asyncio.sleep(1)
            failures = len(rig.heard(MapperFailed))
            assert 5 < failures < 15, "with backoff"
            broken = False
            await asyncio.sleep(10)
        assert Request("ns", "for-5") in runs
        assert Request("ns", "for-1") in runs, "what was not mapped may concern another gadget"

    simulate(main)


@pytest.mark.parametrize("error", EVIL, ids=lambda error: type(error).__name__)
def test_l3_a_mapper_goes_on_whatever_it_has_raised(error: BaseException) -> None:
    async def main(world: World) -> list[str]:
        rig = Rig(world)
        controller = Controller(Gadget)
        runs: list[str] = []
        left = [error]

        @controller.reconciler
        async def reconcile(ctx: Context, request: Request) -> None:
            runs.append(request.name)

        @controller.watch(Part)
        async def gadget_of(obj: Part, reader: Reader) -> list[Request]:
            if left:
                raise left.pop()
            return [Request("ns", f"for-{obj.spec.size}")]

        async with rig.running(controller) as [runtime]:
            rig.server.put(part(size=1))
            await asyncio.sleep(1)
            rig.server.put(part(size=5))
            await asyncio.sleep(1)
            assert runtime.is_idle
        return sorted(set(runs))

    assert simulate(main) == ["for-1", "for-5"]


def test_l3_a_mapper_that_goes_on_failing_for_an_object_that_changes_is_tried_once_for_all_and_misses_no_state() -> None:
    """With a retry for each change, an hour of changes would end in a storm of them."""

    async def main(world: World) -> tuple[int, list[int]]:
        rig = Rig(world)
        sizes: list[int] = []
        fails = [True]

        def mapper(part: Part) -> list[Request]:
            if fails:
                raise ValueError("not now")
            sizes.append(part.spec.size)
            return [A]

        async with rig.running(Controller(Gadget, reconciler=nothing).watch(Part, map=mapper)):
            for size in range(10):
                rig.server.put(part(size=size))
                await asyncio.sleep(10)
            before = len(rig.heard(MapperFailed))
            await asyncio.sleep(2000)
            retries = len(rig.heard(MapperFailed)) - before
            fails.clear()
            await asyncio.sleep(2000)
        return retries, sizes

    retries, sizes = simulate(main)
    assert retries < 10
    assert sizes == [*range(10)]


def test_l3_a_state_that_cannot_be_read_is_not_tried_for_ever_but_what_follows_it_is_mapped() -> None:
    async def main(world: World) -> tuple[int, list[int]]:
        rig = Rig(world)
        sizes: list[int] = []

        def mapper(part: Part) -> list[Request]:
            sizes.append(part.spec.size)
            return [A]

        metadata = {"name": "a", "namespace": "ns"}
        unreadable = {"apiVersion": "test.example.com/v1", "kind": "Part", "metadata": metadata, "spec": {"size": "?"}}
        rig.server._store("parts", A, unreadable)
        async with rig.running(Controller(Gadget, reconciler=nothing).watch(Part, map=mapper)):
            await asyncio.sleep(1)
            assert rig.heard(MapperFailed)
            rig.server.put(part(size=4))
            await asyncio.sleep(10)
            before = len(rig.heard(MapperFailed))
            await asyncio.sleep(10000)
            return len(rig.heard(MapperFailed)) - before, sizes

    failed, sizes = simulate(main)
    assert failed == 0
    assert 4 in sizes


async def nothing(ctx: Context, request: Request) -> None:
    """There is nothing to do."""


def test_l3_a_mapper_that_waits_does_not_hold_up_the_stream() -> None:
    async def main(world: World) -> list[Request]:
        rig = Rig(world)
        controller = Controller(Gadget)
        runs: list[Request] = []

        @controller.reconciler
        async def reconcile(ctx: Context, request: Request) -> None:
            runs.append(request)

        @controller.watch(Gadget)
        async def slowly(obj: Gadget, reader: Reader) -> list[Request]:
            await asyncio.sleep(1000)
            return []

        async with rig.running(controller):
            rig.server.put(gadget("a"))
            await asyncio.sleep(1)
            rig.server.put(gadget("b"))
            await asyncio.sleep(1)
        return runs

    assert simulate(main) == [A, Request("ns", "b")]


def test_l3_both_the_old_and_the_new_owner_are_enqueued() -> None:
    async def main(world: World) -> list[str]:
        rig = Rig(world)
        old, new = rig.server.put(gadget("old")), rig.server.put(gadget("new"))
        from setpoint.objects import OwnerReference

        def owned_by(owner: Gadget) -> dict[str, object]:
            return {
                "owner_references": [
                    OwnerReference(api_version="test.example.com/v1", kind="Gadget", name=owner.name, uid=owner.uid, controller=True)
                ]
            }

        rig.server.put(part(**owned_by(old)))
        controller = Controller(Gadget, owns=[Part])
        runs: list[str] = []

        @controller.reconciler
        async def reconcile(ctx: Context, request: Request) -> None:
            runs.append(request.name)

        async with rig.running(controller):
            await asyncio.sleep(1)
            runs.clear()
            rig.server.put(part(**owned_by(new)))
            await asyncio.sleep(1)
        return runs

    assert simulate(main) == ["old", "new"]


@pytest.mark.parametrize("which", ["old", "new"])
def test_l3_owners_are_enqueued_of_a_child_whose_other_metadata_cannot_be_read(which: str, caplog: pytest.LogCaptureFixture) -> None:
    """A state that cannot be read, before or after a change, hides neither the owner that it names nor that of the other state."""

    async def main(world: World) -> list[str]:
        rig = Rig(world)
        owners = {name: rig.server.put(gadget(name)) for name in ("old", "new")}
        runs: list[str] = []

        def state(name: str) -> dict[str, Any]:
            owner = {"apiVersion": "test.example.com/v1", "kind": "Gadget", "name": name, "uid": owners[name].uid, "controller": True}
            references = ["not one", owner] if name == which else [owner]
            metadata = {"name": "a", "namespace": "ns", "ownerReferences": references}
            return {"apiVersion": "test.example.com/v1", "kind": "Part", "metadata": metadata}

        async def reconcile(ctx: Context, request: Request) -> None:
            runs.append(request.name)

        rig.server._store("parts", A, state("old"))
        async with rig.running(Controller(Gadget, reconciler=reconcile, owns=[Part])):
            await asyncio.sleep(1)
            runs.clear()
            rig.server._store("parts", A, state("new"))
            await asyncio.sleep(1)
        return runs

    assert simulate(main) == ["old", "new"]
    assert f"but that Gadget {which} controls it can" in caplog.text


def test_l3_a_deleted_child_comes_back_though_its_deletion_fell_into_a_cut_of_the_watch() -> None:
    async def main(world: World) -> None:
        for forget in (False, True):
            rig = Rig(world)
            rig.server.put(gadget())
            async with rig.running(parts_for_gadgets()):
                await asyncio.sleep(1)
                assert rig.server.names(Part) == ["a"]
                rig.server.hold()
                rig.server.remove(part())
                rig.server.cut(forget=forget)
                if not forget:
                    await asyncio.sleep(1)
                    assert rig.server.names(Part) == [], "the deletion was not to be seen yet"
                rig.server.let_go()
                await asyncio.sleep(120)
                assert rig.server.names(Part) == ["a"]

    simulate(main)


# ---- L4


@pytest.mark.parametrize("sync", [False, True])
def test_l4_never_two_runs_of_one_key_at_a_time_whatever_the_concurrency(sync: bool) -> None:
    async def main(world: World) -> None:
        rig = Rig(world)
        for name in "abc":
            rig.server.put(gadget(name))
        controller = Controller(Gadget, concurrency=8)

        async def reconcile(ctx: Context, request: Request) -> None:
            await asyncio.sleep(3)

        def reconcile_blocking(ctx: SyncContext, request: Request) -> None:
            for _ in range(3):
                ctx.get(Gadget, request, live=True)

        controller.reconciler(reconcile_blocking if sync else reconcile)
        async with rig.running(controller):
            for size in range(20):
                rig.server.put(gadget("abc"[size % 3], size=size + 2))
                await asyncio.sleep(0.002 if sync else 0.7)
            await asyncio.sleep(10)
        assert len(rig.heard(RunStarted)) > 6
        assert overlaps(rig.events) == []

    simulate(main)


def test_l4_a_run_that_does_not_end_at_its_deadline_keeps_its_key() -> None:
    async def main(world: World) -> None:
        rig = Rig(world)
        rig.server.put(gadget())
        controller = Controller(Gadget, concurrency=4, deadline=5)

        @controller.reconciler
        async def stubborn(ctx: Context, request: Request) -> None:
            try:
                await asyncio.sleep(1000)
            finally:
                await asyncio.sleep(50)

        async with rig.running(controller):
            await asyncio.sleep(20)
            rig.server.put(gadget(size=2))
            await asyncio.sleep(30)
            assert len(rig.heard(RunStarted)) == 1
            await asyncio.sleep(10)
            assert len(rig.heard(RunStarted)) == 2
        assert rig.runs()[0].timed_out
        assert overlaps(rig.events) == []

    simulate(main)


# ---- L6


def test_l4_writes_that_a_failed_run_left_under_way_land_before_the_next_run() -> None:
    """As in a `gather` of which one part fails: the others go on. A run that did not see them would create everything again."""

    async def main(world: World) -> list[str]:
        rig = Rig(world)
        rig.server.put(gadget())
        controller = Controller(Gadget, owns=[Part])
        runs = 0

        @controller.reconciler
        async def reconcile(ctx: Context, request: Request) -> None:
            nonlocal runs
            runs += 1
            owner = await ctx.get(Gadget, request)
            if await ctx.list(Part):
                return

            async def fail() -> None:
                if runs == 1:
                    raise RuntimeError("one part fails")

            await asyncio.gather(ctx.create(part(f"made-by-run-{runs}"), owner=owner), fail())

        rig.server.delay = 1.0
        async with rig.running(controller):
            await asyncio.sleep(10)
        assert runs >= 2
        return rig.server.names(Part)

    assert simulate(main) == ["made-by-run-1"]


def test_l4_a_write_that_is_still_prepared_when_its_run_ends_is_not_sent() -> None:
    async def main(world: World) -> list[str]:
        rig = Rig(world)
        rig.server.put(gadget())
        controller = Controller(Gadget)
        late: list[asyncio.Task[object]] = []
        kinds = {"resources": [{"name": "unheards", "kind": "Unheard", "namespaced": True, "verbs": ["patch"]}]}
        rig.server.mischief = lambda operation: None if operation.resource else Answer(status=200, body=json.dumps(kinds).encode())

        @controller.reconciler
        async def reconcile(ctx: Context, request: Request) -> None:
            if not late:
                # The server has to be asked what this kind is called, which takes a moment.
                mapping = {"apiVersion": "example.com/v1", "kind": "Unheard", "metadata": {"name": "x", "namespace": "ns"}}
                late.append(asyncio.create_task(ctx.apply(mapping)))
                await asyncio.sleep(0)

        async with rig.running(controller):
            await asyncio.sleep(5)
            with pytest.raises(RuntimeError, match="its run has ended"):
                await late[0]
        return rig.server.writes

    assert simulate(main) == []


def test_l6_at_start_every_object_is_reconciled_once_before_a_predicate_about_change_has_a_say() -> None:
    async def main(world: World) -> None:
        rig = Rig(world)
        for name in "abc":
            rig.server.put(gadget(name))
        never = Predicate[Gadget](lambda old, new: False)
        for predicate in (None, never, predicates.generation_changed, ~predicates.generation_changed, predicates.labels_changed & never):
            controller = Controller(Gadget, predicate=predicate)
            runs: list[str] = []

            @controller.reconciler
            async def reconcile(ctx: Context, request: Request) -> None:
                runs.append(request.name)

            async with rig.running(controller):
                await asyncio.sleep(1)
            assert runs == ["a", "b", "c"], predicate

    simulate(main)


def test_l6_the_start_up_listing_of_an_owned_kind_enqueues_an_owner_that_is_gone() -> None:
    async def main(world: World) -> list[str]:
        rig = Rig(world)
        rig.server.put(gadget())
        async with rig.running(parts_for_gadgets()):
            await asyncio.sleep(1)
        rig.server.remove(gadget())  # while the controller is down
        rig.cache = type(rig.cache)(rig.connection, rig.scheme)
        controller = Controller(Gadget, owns=[Part])
        runs: list[str] = []

        @controller.reconciler
        async def reconcile(ctx: Context, request: Request) -> None:
            runs.append(request.name)

        async with rig.running(controller):
            await asyncio.sleep(1)
        return runs

    assert simulate(main) == ["a"]


# ---- L7


def outcomes_of(*outcomes: object, seconds: float = 100) -> list[tuple[str, float]]:
    """Runs a reconciler that returns or raises these, one after the other, then None: the label of each run, and when it began."""

    async def main(world: World) -> list[tuple[str, float]]:
        rig = Rig(world)
        rig.server.put(gadget())
        controller = Controller(Gadget)
        left = list(outcomes)
        began: list[float] = []

        @controller.reconciler
        async def reconcile(ctx: Context, request: Request) -> Result | None:
            began.append(asyncio.get_running_loop().time())
            outcome = left.pop(0) if left else None
            if isinstance(outcome, BaseException):
                raise outcome
            return outcome  # type: ignore[return-value]

        async with rig.running(controller):
            await asyncio.sleep(seconds)
        return [(event.result, began[place] - began[0]) for place, event in enumerate(rig.runs())]

    return simulate(main)


def test_l7_an_exception_means_backoff_and_another_run_and_success_resets_it() -> None:
    error = RuntimeError("x")
    runs = outcomes_of(error, error, error, Result(requeue_after=10), error, None)
    assert [label for label, _ in runs] == ["error", "error", "error", "requeue_after", "error", "success"]
    gaps = [later - earlier for (_, earlier), (_, later) in itertools.pairwise(runs)]
    for gap, expected in zip(gaps, [0.005, 0.010, 0.020, 10, 0.005], strict=True):
        assert 0.89 * expected <= gap <= expected * 1.001


def test_l7_none_asks_for_nothing_and_zero_means_now_through_the_rate_limiter() -> None:
    assert [label for label, _ in outcomes_of(None)] == ["success"]
    assert [label for label, _ in outcomes_of(Result())] == ["success"]
    runs = outcomes_of(Result(requeue_after=0), Result(requeue_after=-1), Result(requeue_after=timedelta(0)), None)
    assert [label for label, _ in runs] == ["requeue", "requeue", "requeue", "success"]
    assert 0.03 < runs[-1][1] < 0.036, "5 + 10 + 20 ms: it cannot spin"


def test_l7_requeue_after_runs_then_and_a_run_before_meets_it() -> None:
    async def main(world: World) -> list[float]:
        rig = Rig(world)
        rig.server.put(gadget())
        controller = Controller(Gadget)
        began: list[float] = []

        @controller.reconciler
        async def reconcile(ctx: Context, request: Request) -> Result | None:
            began.append(round(asyncio.get_running_loop().time()))
            return Result(requeue_after=timedelta(hours=1)) if len(began) <= 2 else None

        async with rig.running(controller):
            await asyncio.sleep(1800)
            rig.server.put(gadget(size=2))
            await asyncio.sleep(10000)
        return began

    assert simulate(main) == [0, 1800, 1800 + 3600]


def test_l7_a_terminal_error_is_not_retried_until_something_changes(caplog: pytest.LogCaptureFixture) -> None:
    assert [label for label, _ in outcomes_of(TerminalError("the zone is not ours"))] == ["error"]
    assert "the zone is not ours" in caplog.text


def test_l7_a_conflict_is_a_quiet_quick_retry(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    conflict = modified(Gadget.__kind__.group_version_resource, "a")
    assert isinstance(conflict, Conflict)
    runs = outcomes_of(conflict, None)
    assert [label for label, _ in runs] == ["requeue", "success"]
    assert runs[1][1] < 0.006
    assert [record.levelname for record in caplog.records if "has been modified" in record.getMessage()] == ["INFO"]
    assert all(record.exc_info is None for record in caplog.records)


def test_l7_an_object_that_is_gone_when_it_is_written_is_a_lost_race_too(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    gone = not_found(Gadget.__kind__.group_version_resource, "a")
    assert [label for label, _ in outcomes_of(gone, None)] == ["requeue", "success"]
    assert all(record.exc_info is None for record in caplog.records)


def test_l7_conflicts_that_do_not_end_become_errors() -> None:
    conflict = modified(Gadget.__kind__.group_version_resource, "a")
    labels = [label for label, _ in outcomes_of(*[conflict] * 10)]
    assert labels == ["requeue"] * 8 + ["error"] * 2 + ["success"]


def test_l7_only_lost_races_in_a_row_are_counted_as_such() -> None:
    conflict = modified(Gadget.__kind__.group_version_resource, "a")
    assert [label for label, _ in outcomes_of(*[Result(requeue_after=0)] * 9, conflict)] == ["requeue"] * 10 + ["success"]
    assert [label for label, _ in outcomes_of(*[RuntimeError("x")] * 9, conflict)] == ["error"] * 9 + ["requeue", "success"]
    labels = [label for label, _ in outcomes_of(*[conflict] * 8, RuntimeError("x"), conflict)]
    assert labels == ["requeue"] * 8 + ["error", "requeue", "success"]


def test_l7_lost_races_of_tasks_in_a_group_are_lost_races_and_not_if_one_of_them_failed_otherwise() -> None:
    conflict = modified(Gadget.__kind__.group_version_resource, "a")
    assert outcomes_of(ExceptionGroup("of tasks", [conflict, ExceptionGroup("inner", [conflict])]))[0][0] == "requeue"
    assert outcomes_of(ExceptionGroup("of tasks", [conflict, RuntimeError("x")]))[0][0] == "error"


def test_l7_a_wrong_return_type_is_a_failure_that_says_what_to_return(caplog: pytest.LogCaptureFixture) -> None:
    assert [label for label, _ in outcomes_of(42, None)] == ["error", "success"]
    assert "returned 42: return None, or Result(requeue_after=...)" in caplog.text
    assert [label for label, _ in outcomes_of(Result(requeue_after=float("nan")), None)] == ["error", "success"]


@pytest.mark.parametrize("after", ["5", True, [1], 10**400, Decimal(5), float("inf"), float("nan")], ids=lambda after: type(after).__name__)
def test_l7_a_requeue_after_that_is_no_time_is_a_failure_that_says_what_to_return(after: Any, caplog: pytest.LogCaptureFixture) -> None:
    assert [label for label, _ in outcomes_of(Result(requeue_after=after), None)] == ["error", "success"]
    assert "use a finite number of seconds, a timedelta, or None" in caplog.text


@pytest.mark.parametrize("error", EVIL, ids=lambda error: type(error).__name__)
def test_l7_whatever_a_reconciler_raises_it_fails_and_its_worker_goes_on(error: BaseException) -> None:
    assert [label for label, _ in outcomes_of(error, None)] == ["error", "success"]


@pytest.mark.parametrize("error", [Escape("x"), SystemExit(3), Mute()], ids=lambda error: type(error).__name__)
def test_l7_whatever_a_plain_def_reconciler_raises_it_fails_and_its_worker_goes_on(error: BaseException) -> None:
    async def main(world: World) -> list[str]:
        rig = Rig(world)
        rig.server.put(gadget())
        controller = Controller(Gadget)
        left = [error]

        @controller.reconciler
        def reconcile(ctx: SyncContext, request: Request) -> None:
            if left:
                raise left.pop()

        async with rig.running(controller):
            await asyncio.sleep(1)
        return [event.result for event in rig.runs()]

    assert simulate(main) == ["error", "success"]


def test_l7_a_run_that_hangs_is_ended_at_its_deadline_and_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    async def main(world: World) -> list[str]:
        rig = Rig(world)
        rig.server.put(gadget())
        controller = Controller(Gadget, deadline=30)
        runs: list[Request] = []

        @controller.reconciler
        async def reconcile(ctx: Context, request: Request) -> None:
            runs.append(request)
            if len(runs) == 1:
                await asyncio.sleep(10_000)

        async with rig.running(controller):
            await asyncio.sleep(100)
        return [event.result for event in rig.runs()]

    assert simulate(main) == ["error", "success"]
    assert "its deadline of 30 s" in caplog.text


@pytest.mark.parametrize("landed", [True, False])
def test_l7_after_a_write_of_unknown_outcome_the_next_run_waits_until_the_base_has_seen_it(landed: bool) -> None:
    """Parts get names from the server, so a run that reads too early makes a second one."""

    async def main(world: World) -> None:
        rig = Rig(world)
        rig.server.put(gadget())
        controller = Controller(Gadget, owns=[Part])
        reads: list[int] = []

        @controller.reconciler
        async def reconcile(ctx: Context, request: Request) -> None:
            obj = await ctx.get(Gadget, request)
            parts = await ctx.list(Part, owner=obj)
            reads.append(len(parts))
            if not parts:
                from setpoint.objects import ObjectMeta

                await ctx.create(Part(metadata=ObjectMeta(generate_name="part-"), spec=GadgetSpec()), owner=obj)

        silent = [True]

        def silence(operation: Operation) -> bool:
            return operation.verb == "create" and silent.pop(0) if silent else False

        rig.server.silence = silence
        if not landed:
            from setpoint.api import Unknown

            lost = [True]
            rig.server.mischief = lambda o: Unknown("lost on the way") if o.verb == "create" and lost and lost.pop() else None
        async with rig.running(controller):
            rig.server.hold()  # the part's event is late
            await asyncio.sleep(10)
            if landed:
                assert reads == [0], "the next run must wait"
                assert rig.heard(Held)
                assert not rig.heard(Released)
            rig.server.let_go()
            await asyncio.sleep(10)
        assert len(rig.server.names(Part)) == 1
        assert len(rig.heard(Held)) == len(rig.heard(Released)) == 1 if landed else True

    simulate(main)


def test_l7_while_the_server_cannot_be_asked_what_came_of_a_write_the_key_waits() -> None:
    async def main(world: World) -> None:
        rig = Rig(world)
        rig.server.put(gadget())
        rig.server.silence = lambda operation: operation.verb == "patch"
        down = [False]
        rig.server.mischief = lambda o: NotSent("no route") if down[0] and o.verb == "get" else None
        controller = parts_for_gadgets()
        async with rig.running(controller):
            await asyncio.sleep(0.002)
            down[0] = True
            await asyncio.sleep(100)
            assert len(rig.runs()) == 1
            down[0] = False
            rig.server.silence = lambda operation: False
            await asyncio.sleep(100)
            assert [run.result for run in rig.runs()][-1] == "success"

    simulate(main)


def test_l7_a_kind_that_is_gone_ends_the_wait_for_what_came_of_a_write_to_it() -> None:
    async def main(world: World) -> None:
        rig = Rig(world)
        rig.server.put(gadget())
        rig.server.silence = lambda operation: operation.verb == "patch"
        gone = failure(404, "NotFound", "the server could not find the requested resource").status.answer()
        rig.server.mischief = lambda o: gone if o.verb == "get" and o.resource.resource == "parts" else None
        async with rig.running(parts_for_gadgets()):
            await asyncio.sleep(1)
        assert len(rig.heard(Released)) > 3
        assert len(rig.runs()) > 3

    simulate(main)


def test_l7_where_an_object_may_be_listed_and_not_read_what_came_of_a_write_is_looked_for_in_the_list() -> None:
    async def main(world: World) -> None:
        rig = Rig(world)
        rig.server.put(gadget())
        silent = [True]
        rig.server.silence = lambda o: o.verb == "patch" and bool(silent) and silent.pop()
        forbidden = failure(403, "Forbidden", "parts may not be read").status.answer()
        rig.server.mischief = lambda o: forbidden if o.verb == "get" and o.resource.resource == "parts" else None
        async with rig.running(parts_for_gadgets()):
            rig.server.hold()
            await asyncio.sleep(10)
            assert not rig.heard(Released)
            rig.server.let_go()
            await asyncio.sleep(10)
            assert len(rig.heard(Released)) == 1
            assert [run.result for run in rig.runs()][-1] == "success"

    simulate(main)


def test_l7_a_namespace_that_is_not_looked_at_any_more_ends_the_wait_for_what_came_of_a_write_to_it() -> None:
    async def main(world: World) -> None:
        rig = Rig(world)
        rig.cache = Cache(rig.connection, rig.scheme, scope=Scope(["ns", "far"]))
        rig.server.put(gadget())
        rig.server.silence = lambda operation: operation.verb == "patch"
        forbidden = failure(403, "Forbidden", "nothing is yours there").status.answer()
        rig.server.mischief = lambda o: forbidden if o.namespace == "far" and o.verb in ("get", "list") else None
        controller = Controller(Gadget).watch(Part, map=lambda part: [])

        @controller.reconciler
        async def reconcile(ctx: Context, request: Request) -> None:
            await ctx.patch(Part, Request("far", "a"), {"spec": {"size": 3}})

        rig.server.put(Part(metadata=ObjectMeta(name="a", namespace="far"), spec=GadgetSpec()))
        async with rig.running(controller):
            await asyncio.sleep(100)
            assert not rig.heard(Released)
            rig.cache.set_namespaces(["ns"])
            await asyncio.sleep(100)
            assert rig.heard(Released)

    simulate(main)


def parts_for_gadgets() -> Controller[Gadget]:
    controller = Controller(Gadget, owns=[Part])

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        obj = await ctx.get(Gadget, request)
        if obj is not None:
            await ctx.apply(part(obj.name, obj.spec.size), owner=obj)

    return controller


def test_a_watched_kind_that_is_cluster_scoped_maps_by_function() -> None:
    async def main(world: World) -> list[Request]:
        from setpoint.objects import ObjectMeta

        rig = Rig(world)
        controller = Controller(Gadget)
        runs: list[Request] = []

        @controller.reconciler
        async def reconcile(ctx: Context, request: Request) -> None:
            runs.append(request)

        @controller.watch(Zone)
        def in_zone(zone: Zone) -> list[Request]:
            return [Request("ns", f"in-{zone.name}")]

        async with rig.running(controller):
            rig.server.put(Zone(metadata=ObjectMeta(name="z"), spec=GadgetSpec()))
            await asyncio.sleep(1)
        return runs

    assert simulate(main) == [Request("ns", "in-z")]


def test_stop_lets_runs_end_and_stopping_again_without_waiting_cancels_them() -> None:
    async def main(world: World) -> list[str]:
        rig = Rig(world)
        rig.server.put(gadget())
        ends: list[str] = []
        controller = Controller(Gadget)

        @controller.reconciler
        async def reconcile(ctx: Context, request: Request) -> None:
            try:
                await asyncio.sleep(30)
                ends.append("by itself")
            except asyncio.CancelledError:
                ends.append("cancelled")
                raise

        async with rig.running(controller) as (runtime,):
            await asyncio.sleep(1)
            await runtime.stop()
        rig.cache = type(rig.cache)(rig.connection, rig.scheme)
        async with rig.running(controller) as (runtime,):
            await asyncio.sleep(1)
            stopping = asyncio.ensure_future(runtime.stop())
            await asyncio.sleep(5)
            await runtime.stop(wait=False)
            await stopping
        return ends

    assert simulate(main) == ["by itself", "cancelled"]


def test_what_is_stopped_before_its_caches_are_complete_does_not_begin_to_listen_later() -> None:
    async def main(world: World) -> int:
        rig = Rig(world)
        rig.server.put(gadget())
        controller = parts_for_gadgets().watch(Part, map=lambda part: [])
        runtime = ControllerRuntime(controller, world=world, cache=rig.cache, client=rig.client)
        starting = asyncio.ensure_future(runtime.start())
        await asyncio.sleep(1)
        await runtime.stop()
        cache = asyncio.ensure_future(rig.cache.run())
        await starting
        await asyncio.sleep(1)
        mappers = [task for task in asyncio.all_tasks() if task.get_name().endswith("-mapper")]
        cache.cancel()
        await asyncio.gather(cache, return_exceptions=True)
        return len(mappers)

    assert simulate(main) == 0


@pytest.mark.parametrize("fails", [False, True])
def test_a_mapper_that_does_not_let_itself_be_cancelled_is_the_last_one_after_a_stop(fails: bool) -> None:
    async def main(world: World) -> tuple[int, list[str]]:
        rig = Rig(world)
        rig.server.put(part("a"))
        rig.server.put(part("b"))
        mapped: list[str] = []

        async def mapper(part: Part, reader: Reader) -> list[Request]:
            mapped.append(part.name)
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(20)
            if fails:
                raise ValueError("cancelled, and wrong")
            return [A]

        async with rig.running(Controller(Gadget, reconciler=nothing).watch(Part, map=mapper)) as (runtime,):
            await asyncio.sleep(1)
            await runtime.stop()
            await asyncio.sleep(100)
            return len([task for task in asyncio.all_tasks() if task.get_name().endswith("-mapper")]), mapped

    assert simulate(main) == (0, ["a"])


def test_a_stop_that_is_cut_short_is_completed_by_the_next_one() -> None:
    """The first is cancelled while it waits for a mapper that does not end; the second must wait for no key that is held."""

    async def main(world: World) -> float:
        rig = Rig(world)
        rig.server.put(gadget())
        rig.server.silence = lambda operation: operation.verb == "patch"

        async def stubborn(part: Part, reader: Reader) -> list[Request]:
            for _ in range(3):
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.sleep(20)
            return []

        rig.server.put(part("b"))
        async with rig.running(parts_for_gadgets().watch(Part, map=stubborn)) as (runtime,):
            rig.server.hold()
            await asyncio.sleep(10)
            assert rig.heard(Held)
            stopping = asyncio.ensure_future(runtime.stop())
            await asyncio.sleep(0.5)
            stopping.cancel()
            await asyncio.gather(stopping, return_exceptions=True)
            before = asyncio.get_running_loop().time()
            await runtime.stop(wait=False)
            return asyncio.get_running_loop().time() - before

    assert simulate(main) <= 1


def test_l7_stopping_does_not_wait_for_what_came_of_a_write() -> None:
    async def main(world: World) -> float:
        rig = Rig(world)
        rig.server.put(gadget())
        rig.server.silence = lambda operation: operation.verb == "patch"
        async with rig.running(parts_for_gadgets()) as (runtime,):
            rig.server.hold()
            await asyncio.sleep(10)
            assert rig.heard(Held)
            before = asyncio.get_running_loop().time()
            await runtime.stop()
            return asyncio.get_running_loop().time() - before

    assert simulate(main) == 0
