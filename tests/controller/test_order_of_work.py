"""Running controllers: priorities, rate limiters, the least interval, threads that run out, mappers that hang."""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import Any

import pytest

from setpoint.client.errors import OutcomeUnknown
from setpoint.controller import Backoff, Bucket, Context, Controller, MapperFailed, MaxOf, QueueTaken, Reader, Result, SyncContext
from setpoint.controller.lanes import LOW_PRIORITY
from setpoint.controller.thread_pool import PATIENCE, ThreadPool
from setpoint.controller.triggers import MAPPER_DEADLINE
from setpoint.objects import Request
from setpoint.world import SeededChance, SimulatedClock, World, real_world, simulate

from .fakes import Gadget, Part, Rig, gadget, part

A, B = Request("ns", "a"), Request("ns", "b")


async def nothing(ctx: Context, request: Request) -> None:
    """There is nothing to do."""


def test_as_many_keys_run_at_a_time_as_the_controller_says_and_no_more() -> None:
    async def main(world: World) -> dict[float, int]:
        rig = Rig(world)
        for number in range(10):
            rig.server.put(gadget(f"g{number}"))
        starts: dict[float, int] = {}

        async def reconcile(ctx: Context, request: Request) -> None:
            now = round(asyncio.get_running_loop().time(), 1)
            starts[now] = starts.get(now, 0) + 1
            await asyncio.sleep(10)

        async with rig.running(Controller(Gadget, reconciler=reconcile, concurrency=3)):
            await asyncio.sleep(100)
        return starts

    # Each takes ten seconds, so three begin whenever three end.
    assert list(simulate(main).values()) == [3, 3, 3, 1]


def test_the_start_up_listing_has_low_priority_a_change_the_normal_one_and_a_watch_its_own() -> None:
    async def main(world: World) -> list[int]:
        rig = Rig(world)
        rig.server.put(gadget())
        controller = Controller(Gadget, reconciler=nothing).watch(Part, map=lambda part: [A], priority=7)
        async with rig.running(controller):
            await asyncio.sleep(1)
            rig.server.put(gadget(size=2))
            await asyncio.sleep(1)
            rig.server.put(part())
            await asyncio.sleep(1)
        return [event.priority for event in rig.heard(QueueTaken)]

    assert simulate(main) == [LOW_PRIORITY, 0, 7]


def test_a_result_may_say_the_priority_of_the_run_that_it_asks_for_and_else_keeps_its_own() -> None:
    async def main(world: World) -> list[int]:
        rig = Rig(world)
        rig.server.put(gadget())
        results = iter([Result(requeue_after=1), Result(requeue_after=1, priority=3), Result(requeue_after=0), Result(requeue_after=1)])

        async def reconcile(ctx: Context, request: Request) -> Result | None:
            return next(results, None)

        async with rig.running(Controller(Gadget, reconciler=reconcile)):
            await asyncio.sleep(10)
        return [event.priority for event in rig.heard(QueueTaken)]

    assert simulate(main) == [LOW_PRIORITY, LOW_PRIORITY, 3, 3, 3]


def test_a_priority_without_a_time_is_refused() -> None:
    async def main(world: World) -> str:
        rig = Rig(world)
        rig.server.put(gadget())

        async def reconcile(ctx: Context, request: Request) -> Result | None:
            return Result(priority=3)

        async with rig.running(Controller(Gadget, reconciler=reconcile, rate_limiter=lambda world: Backoff(world.chance, base=60))):
            await asyncio.sleep(10)
        return rig.runs()[0].error

    assert "Result(priority=3)" in simulate(main)


def starts_of(results: list[Result | Exception | None], **options: object) -> list[float]:
    """When a controller runs, whose runs come to that, in seconds since the first."""

    async def main(world: World) -> list[float]:
        rig = Rig(world)
        rig.server.put(gadget())
        starts, coming = [], iter(results)

        async def reconcile(ctx: Context, request: Request) -> Result | None:
            starts.append(asyncio.get_running_loop().time())
            result = next(coming, None)
            if isinstance(result, Exception):
                raise result
            return result

        async with rig.running(Controller(Gadget, reconciler=reconcile, **options)):
            await asyncio.sleep(2000)
        return [round(start - starts[0], 3) for start in starts]

    return simulate(main)


def test_a_controller_may_bring_its_own_rate_limiter() -> None:
    assert starts_of([ValueError("no")] * 3, rate_limiter=lambda world: Steps()) == [0, 10, 30, 60]


class Steps:
    """Waits ten seconds longer each time."""

    def __init__(self) -> None:
        self.count: dict[Request, int] = {}

    def next(self, key: Request) -> float:
        self.count[key] = self.count.get(key, 0) + 1
        return 10.0 * self.count[key]

    def forget(self, key: Request) -> None:
        self.count.pop(key, None)

    def failures(self, key: Request) -> int:
        return self.count.get(key, 0)


class Broken(Steps):
    """A mistake of somebody's."""

    def __init__(self, seconds: float | None) -> None:
        super().__init__()
        self.seconds = seconds

    def next(self, key: Request) -> float:
        if self.seconds is None:
            raise KeyError(key)
        return self.seconds


@pytest.mark.parametrize("seconds", [None, float("nan"), -1.0, float("inf")])
def test_a_rate_limiter_that_is_broken_neither_ends_the_worker_nor_lets_a_key_spin(seconds: float | None) -> None:
    starts = starts_of([ValueError("no")] * 3, rate_limiter=lambda world: Broken(seconds))
    assert len(starts) == 4
    assert starts[-1] == pytest.approx(0.035, rel=0.1)


@pytest.mark.parametrize("mistake", [Backoff(SeededChance(0)), Backoff, Bucket, MaxOf, 5])
def test_what_makes_no_rate_limiter_is_refused(mistake: Any) -> None:
    with pytest.raises(TypeError, match="lambda world: Backoff"):
        Controller(Gadget, rate_limiter=mistake)


def test_a_bucket_lets_a_burst_through_and_then_so_many_a_second() -> None:
    now = [100.0]
    bucket = Bucket(SimulatedClock(lambda: now[0]), rate=10, burst=3)
    assert [round(bucket.next(A), 6) for _ in range(5)] == [0, 0, 0, 0.1, 0.2]
    now[0] += 0.2
    assert round(bucket.next(B), 6) == 0.1
    now[0] += 1000
    assert [round(bucket.next(A), 6) for _ in range(4)] == [0, 0, 0, 0.1]


def test_of_several_limiters_the_longest_wait_holds() -> None:
    both = MaxOf(Backoff(SeededChance(0), base=1), Steps())
    assert [both.next(A), both.failures(A)] == [10, 1]
    assert [both.next(A) for _ in range(7)][-1] > 80
    both.forget(A)
    assert both.next(A) == 10


def test_with_a_least_interval_a_hot_loop_runs_once_in_each_and_failures_are_retried_as_ever() -> None:
    assert starts_of([Result(requeue_after=0.001)] * 4, min_interval=30) == [0, 30, 60, 90, 120]
    assert starts_of([ValueError("no"), None], min_interval=30)[1] < 0.01


def test_a_later_timer_is_kept_over_the_least_interval() -> None:
    assert starts_of([Result(requeue_after=300), None], min_interval=30) == [0, 300]


def test_a_key_rests_for_the_least_interval_also_after_its_wait_for_a_write_of_unknown_outcome() -> None:
    async def main(world: World) -> float:
        rig = Rig(world)
        rig.server.put(gadget())
        rig.server.silence = lambda operation: operation.verb == "patch"
        starts: list[float] = []

        async def reconcile(ctx: Context, request: Request) -> Result:
            starts.append(asyncio.get_running_loop().time())
            if len(starts) == 1:
                with pytest.raises(OutcomeUnknown):
                    await ctx.patch(Gadget, request, {"spec": {"size": 7}})
            return Result(requeue_after=0.1)

        async with rig.running(Controller(Gadget, reconciler=reconcile, min_interval=30)):
            await asyncio.sleep(100)
        return starts[1] - starts[0]

    assert simulate(main) >= 30


# ---- async mappers that hang


@pytest.mark.parametrize("stubborn", [False, True])
def test_a_mapper_that_never_returns_is_told_of_tried_again_and_holds_up_no_other_object(stubborn: bool) -> None:
    async def main(world: World) -> tuple[list[str], list[str]]:
        rig = Rig(world)
        rig.server.put(gadget("a"))
        rig.server.put(gadget("b"))
        hangs = [True]

        async def mapper(part: Part, reader: Reader) -> list[Request]:
            while part.name == "a" and hangs:
                try:
                    await asyncio.get_running_loop().create_future()
                except asyncio.CancelledError:
                    if not stubborn:
                        raise
            return [part.key]

        async with rig.running(Controller(Gadget, reconciler=nothing).watch(Part, map=mapper)):
            await asyncio.sleep(1)
            before = len(rig.runs())
            rig.server.put(part("a"))
            rig.server.put(part("b"))
            await asyncio.sleep(MAPPER_DEADLINE + 1)
            failed = [event.error for event in rig.heard(MapperFailed)]
            hangs.clear()
            await asyncio.sleep(2 * MAPPER_DEADLINE)
        return failed, [run.request.name for run in rig.runs()[before:]]

    failed, runs = simulate(main)
    assert failed == ["MapperHangs: it has not returned for 30 s"]
    assert runs == ["b", "a"]


# ---- threads


def test_no_more_plain_reconcilers_run_at_a_time_than_there_are_threads_and_who_holds_them_is_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)

    async def main(world: World) -> tuple[list[str], int]:
        pool = ThreadPool(world, 2)
        order = []

        async def hold(name: str, seconds: float) -> None:
            await pool.acquire(name)
            order.append(name)
            await asyncio.sleep(seconds)
            pool.release(name)

        runs = [asyncio.ensure_future(hold(name, 2 * PATIENCE)) for name in ("slow", "slow", "first", "second", "third")]
        await asyncio.sleep(1)
        assert (pool.size, pool.in_use, pool.waiting, pool.holders) == (2, 2, 3, {"slow": 2})
        runs[3].cancel()
        await asyncio.sleep(PATIENCE)
        assert pool.waiting == 2
        await asyncio.gather(*runs, return_exceptions=True)
        return order, pool.in_use

    assert simulate(main) == (["slow", "slow", "first", "third"], 0)
    assert [record.getMessage() for record in caplog.records if "by slow (2)" in record.getMessage()] == [caplog.messages[0]]
    assert len(caplog.records) == 1


def test_a_run_that_is_cancelled_with_a_thread_in_sight_leaves_it_to_the_next() -> None:
    async def main(world: World) -> int:
        pool = ThreadPool(world, 1)
        await pool.acquire("a")
        waiting = [asyncio.ensure_future(pool.acquire("b")) for _ in range(2)]
        await asyncio.sleep(0)
        pool.release("a")
        waiting[0].cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert pool.holders == {"b": 1}
        pool.release("b")
        return pool.in_use

    assert simulate(main) == 0


def test_a_run_at_its_deadline_without_a_thread_is_ended_and_never_called() -> None:
    async def main() -> int:
        world = real_world()
        rig = Rig(world)
        gate, called = threading.Event(), []

        def reconcile(ctx: SyncContext, request: Request) -> None:
            called.append(request)
            gate.wait(30)

        from setpoint.controller import ControllerRuntime

        controllers = [Controller(Gadget, name=name, reconciler=reconcile, deadline=limit) for name, limit in (("a", None), ("b", 0.05))]
        pool = ThreadPool(world, 1)
        first, second = (ControllerRuntime(c, world=world, cache=rig.cache, client=rig.client, threads=pool) for c in controllers)
        try:
            for runtime in (first, second):
                runtime.queue.add(A)
                runtime.work()
            async with asyncio.timeout(30):
                while not rig.runs():
                    await asyncio.sleep(0.01)
            assert [run.timed_out for run in rig.runs()] == [True]
            assert pool.in_use == 1
            return len(called)
        finally:
            gate.set()
            await first.stop()
            await second.stop(wait=False)
            await world.threads.close()

    assert asyncio.run(main()) == 1
