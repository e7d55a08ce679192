"""What the queue does, rule by rule; `test_queue_model` has all of its promises together."""

from __future__ import annotations

import asyncio

import pytest

from setpoint.controller import Backoff, PriorityRaised, Queue, QueueAdded, QueueTaken, TimerSet, Triggered
from setpoint.controller.lanes import AGEING, LOW_PRIORITY, NORMAL_PRIORITY, TURNS
from setpoint.objects import Request
from setpoint.world import SeededChance, World, simulate

KEYS = [Request("ns", name) for name in "abcd"]
A, B, C, D = KEYS


def queue_in(world: World) -> Queue:
    return Queue("test", Backoff(world.chance), world.observer)


async def _get_now(queue: Queue) -> Request | None:
    """What a worker that asks is given without anything else happening."""
    task = asyncio.ensure_future(queue.get())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    if task.done():
        return task.result()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return None


def test_ready_keys_come_in_the_order_in_which_they_were_added() -> None:
    async def main(world: World) -> list[Request | None]:
        queue = queue_in(world)
        for key in (B, A, C, A, B):
            queue.add(key)
        return [await queue.get(), await queue.get(), await queue.get()]

    assert simulate(main) == [B, A, C]


def test_a_fresh_change_goes_before_15_initially_listed_keys_also_when_they_have_waited_for_long() -> None:
    """flux-iac/tofu-controller#1641: a change waited behind the whole start-up listing."""

    async def main(world: World) -> list[str]:
        queue = queue_in(world)
        for number in range(15):
            queue.add(Request("ns", f"old{number}"), priority=LOW_PRIORITY)
        order = []
        for run in range(18):
            if run in (2, 6, 9):
                queue.add(Request("ns", f"new{run}"))
            key = await queue.get()
            assert key is not None
            order.append(key.name)
            await asyncio.sleep(60)  # so that all that wait are overdue from now on
            queue.done(key)
        return order

    order = simulate(main)
    assert [order[2], order[6], order[9]] == ["new2", "new6", "new9"]
    assert sorted(order[:2] + order[3:6] + order[7:9] + order[10:]) == sorted(f"old{number}" for number in range(15))


def test_what_waits_behind_keys_that_ask_for_themselves_for_ever_runs_within_the_ageing_and_its_turn() -> None:
    """kubernetes-sigs/controller-runtime#3496: 90 objects that requeued themselves kept three of low priority waiting for half an hour."""

    async def main(world: World) -> list[float]:
        queue = queue_in(world)
        for number in range(90):
            queue.add(Request("ns", f"busy{number}"))
        for number in range(3):
            queue.add(Request("ns", f"old{number}"), priority=LOW_PRIORITY)
        time = asyncio.get_running_loop().time
        began, waited = time(), []
        while len(waited) < 3 and time() < began + 60:
            key = await queue.get()
            assert key is not None
            if key.name.startswith("old"):
                waited.append(time() - began)
            await asyncio.sleep(0.25)
            if key.name.startswith("busy"):
                queue.add(key)
            queue.done(key)
        return waited

    assert simulate(main) == [AGEING, AGEING + TURNS * 0.25, AGEING + 2 * TURNS * 0.25]


def test_namespaces_take_turns_however_many_keys_one_of_them_has() -> None:
    """mckinsey/agents-at-scale-ark#2698: one tenant with thousands of objects kept all others waiting."""

    async def main(world: World) -> list[str]:
        queue = queue_in(world)
        for number in range(1000):
            queue.add(Request("large", f"{number}"))
        for name in "ab":
            queue.add(Request("small", name))
        queue.add(Request("", "zone"))
        return [str(await queue.get()) for _ in range(7)]

    assert simulate(main) == ["large/0", "small/a", "zone", "large/1", "small/b", "large/2", "large/3"]


def test_namespaces_and_priorities_that_are_gone_are_not_remembered() -> None:
    async def main(world: World) -> None:
        queue = queue_in(world)
        for number in range(1000):
            queue.add(Request(f"ns{number}", "a"), priority=LOW_PRIORITY)
            queue.add(Request(f"ns{number}", "a"), priority=number + 1)  # leaves its place in the lower lane behind
        low = queue._lanes._lanes[LOW_PRIORITY]
        assert len(low.spaces) + len(low.order) <= 2 * 66
        while len(queue):
            queue.done(await queue.get())
        assert [lane.priority for lane in queue._lanes._ranked] == [NORMAL_PRIORITY, LOW_PRIORITY]
        assert max(len(lane.spaces) for lane in queue._lanes._ranked) <= 65

    simulate(main)


def test_a_retry_keeps_the_priority_of_its_run() -> None:
    """kubernetes-sigs/controller-runtime#3157."""

    async def main(world: World) -> list[int]:
        taken = []
        world.observer.subscribe(lambda event: taken.append(event.priority) if isinstance(event, QueueTaken) else None)
        queue = queue_in(world)
        queue.add(A, priority=7)
        for seconds in (0, 1):
            key = await queue.get()
            assert key is not None
            queue.add_rate_limited(key)
            queue.add_after(key, seconds)
            queue.done(key)
        await queue.get()
        return taken

    assert simulate(main) == [7, 7, 7]


def test_of_two_priorities_of_one_key_the_higher_counts_and_the_change_is_heard() -> None:
    async def main(world: World) -> tuple[list[Request | None], list[tuple[int, int]]]:
        raised = []
        world.observer.subscribe(lambda event: raised.append((event.before, event.priority)) if isinstance(event, PriorityRaised) else None)
        queue = queue_in(world)
        queue.add(A)
        queue.add(B, priority=LOW_PRIORITY)
        queue.add_after(B, 1, priority=5)
        queue.add_after(B, 2, priority=9)
        queue.add_after(B, 9, priority=1)
        await asyncio.sleep(1)
        queue.add(B, priority=3)
        return [await queue.get(), await queue.get()], raised

    assert simulate(main) == ([B, A], [(LOW_PRIORITY, 9)])


def test_with_a_least_interval_a_key_rests_after_success_and_a_retry_does_not_wait_for_it() -> None:
    async def main(world: World) -> list[float]:
        time = asyncio.get_running_loop().time
        queue = Queue("test", Backoff(world.chance), min_interval=30)
        starts = []
        queue.add(A)
        for end in ("rest", "rest", "fail", "rest", "rest"):
            key = await queue.get()
            assert key is not None
            starts.append(time())
            if end == "fail":
                queue.add_after(key, 1)
                queue.done(key)
            else:
                queue.rest(key)
                assert queue.is_idle, "resting is waiting for a timer"
                queue.add_after(key, 300)  # the earliest ask counts, as soon as the key has rested
                await asyncio.sleep(1)
                queue.add(key)
                assert not queue.is_idle
                assert queue.processing == 0
        return [start - starts[0] for start in starts]

    assert simulate(main) == [0, 30, 60, 61, 91]


def test_a_key_of_the_initial_listing_that_changes_moves_to_the_front_and_runs_once() -> None:
    async def main(world: World) -> list[Request | None]:
        queue = queue_in(world)
        queue.add(A, priority=LOW_PRIORITY)
        queue.add(B, priority=LOW_PRIORITY)
        queue.add(B)
        order = [await queue.get(), await queue.get()]
        assert len(queue) == 0
        return order

    assert simulate(main) == [B, A]


def test_l4_a_place_left_behind_in_the_other_lane_does_not_give_out_a_key_that_runs() -> None:
    async def main(world: World) -> Request | None:
        queue = queue_in(world)
        queue.add(A, priority=LOW_PRIORITY)
        queue.add(A)  # moves; its place in the initial lane stays behind
        assert await queue.get() == A
        queue.add(A, priority=LOW_PRIORITY)
        return await _get_now(queue)

    assert simulate(main) is None


def test_a_run_meets_the_pending_timer_of_its_key() -> None:
    async def main(world: World) -> None:
        queue = queue_in(world)
        queue.add_after(A, 10)
        queue.add(A)
        assert await queue.get() == A
        queue.done(A)
        await asyncio.sleep(20)
        assert len(queue) == 0

    simulate(main)


def test_backoff_doubles_from_five_milliseconds_to_a_thousand_seconds_and_success_resets_it() -> None:
    backoff = Backoff(SeededChance(1))
    delays = [backoff.next(A) for _ in range(30)]
    for failures, delay in enumerate(delays):
        full = min(0.005 * 2**failures, 1000)
        assert 0.9 * full <= delay <= full
    assert backoff.next(B) <= 0.005, "each key for itself"
    backoff.forget(A)
    assert backoff.next(A) <= 0.005


def test_two_thousand_failures_do_not_overflow() -> None:
    backoff = Backoff(SeededChance(1))
    assert max(backoff.next(A) for _ in range(2000)) <= 1000


def test_adds_count_ready_keys_once_and_retries_count_every_delayed_add() -> None:
    async def main(world: World) -> list[str]:
        heard = []
        world.observer.subscribe(lambda event: heard.append(type(event).__name__))
        queue = queue_in(world)
        queue.add(A)
        queue.add(A)
        queue.add_after(B, 5)
        queue.add_after(B, 3)
        queue.add_after(B, 9)
        await asyncio.sleep(4)
        await queue.get()
        return heard

    asked, added = Triggered.__name__, QueueAdded.__name__
    assert simulate(main) == [asked, added, asked, *[TimerSet.__name__] * 3, asked, added, QueueTaken.__name__]


def test_a_worker_that_is_cancelled_with_a_key_in_sight_leaves_it_to_the_next() -> None:
    async def main(world: World) -> Request | None:
        queue = queue_in(world)
        first, second = asyncio.ensure_future(queue.get()), asyncio.ensure_future(queue.get())
        await asyncio.sleep(0)
        queue.add(A)
        first.cancel()
        return await second

    assert simulate(main) == A


def test_shut_down_wakes_all_workers_and_takes_nothing_more() -> None:
    async def main(world: World) -> None:
        queue = queue_in(world)
        workers = [asyncio.ensure_future(queue.get()) for _ in range(3)]
        await asyncio.sleep(0)
        queue.shut_down()
        queue.add(A)
        assert await asyncio.gather(*workers) == [None, None, None]
        assert await queue.get() is None

    simulate(main)


def test_timers_that_are_due_at_once_work_on_every_loop() -> None:
    """uvloop gives handles without a time for those."""
    uvloop = pytest.importorskip("uvloop")

    async def main() -> list[Request | None]:
        queue = Queue("test", Backoff(SeededChance(0)))
        queue.add_after(A, 1e-9)
        queue.add_after(B, 1e-3)
        queue.add_after(C, 1e-9)
        async with asyncio.timeout(30):
            return [await queue.get() for _ in KEYS[:3]]

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert sorted(key for key in runner.run(main()) if key) == [A, B, C]
