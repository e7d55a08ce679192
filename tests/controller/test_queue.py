"""The queue against a model: nothing lost, nothing twice at once, the earliest due time, order of arrival."""

from __future__ import annotations

import asyncio

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from setpoint.controller import Backoff, Queue, QueueAdded, QueueTaken, TimerSet, Triggered
from setpoint.objects import Request
from setpoint.world import SeededChance, World, new_loop, simulate, simulated_world

KEYS = [Request("ns", name) for name in "abcd"]
A, B, C, D = KEYS


def queue_in(world: World) -> Queue:
    return Queue("test", Backoff(world.chance), world.observer)


class QueueMachine(RuleBasedStateMachine):
    """Every sequence of moves, in simulated time. The model: which keys want a run, which run, which are held, and when timers are due."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = new_loop()
        self.queue = self.on_loop(self.make)
        self.wanted: dict[Request, None] = {}
        self.running: dict[Request, None] = {}
        self.held: dict[Request, None] = {}
        self.due: dict[Request, float] = {}

    def on_loop(self, function, *args):
        async def call():
            return function(*args)

        return self.loop.run_until_complete(call())

    def make(self) -> Queue:
        return queue_in(simulated_world(self.loop))

    def teardown(self) -> None:
        self.loop.close()

    @rule(key=st.sampled_from(KEYS), initial=st.booleans())
    def add(self, key: Request, initial: bool) -> None:
        self.on_loop(lambda: self.queue.add(key, initial=initial))
        self.wanted[key] = None

    @rule(key=st.sampled_from(KEYS), seconds=st.integers(0, 20))
    def add_after(self, key: Request, seconds: int) -> None:
        self.on_loop(self.queue.add_after, key, seconds)
        if seconds == 0:
            self.wanted[key] = None
        else:
            due = self.loop.time() + seconds
            self.due[key] = min(due, self.due.get(key, due))

    @rule(seconds=st.integers(1, 30))
    def pass_time(self, seconds: int) -> None:
        self.loop.run_until_complete(asyncio.sleep(seconds))
        for key, due in list(self.due.items()):
            if due <= self.loop.time():
                del self.due[key]
                self.wanted[key] = None

    @rule()
    def get(self) -> None:
        key = self.loop.run_until_complete(_get_now(self.queue))
        able = [key for key in self.wanted if key not in self.running and key not in self.held]
        if key is None:
            assert not able, f"{able} want a run and were not given out"
            return
        assert key in able, f"{key} was given out, but only {able} may run"
        del self.wanted[key]
        self.due.pop(key, None)
        self.running[key] = None

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def done(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(list(self.running)))
        self.on_loop(self.queue.done, key)
        del self.running[key]

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def hold(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(list(self.running)))
        self.on_loop(self.queue.hold, key)
        del self.running[key]
        self.held[key] = None

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(list(self.held)))
        self.on_loop(self.queue.release, key)
        del self.held[key]

    @invariant()
    def counts_agree(self) -> None:
        assert len(self.queue) == len(self.wanted)
        assert self.queue.processing == len(self.running)
        for key in KEYS:
            assert self.queue.due(key) == self.due.get(key)
        assert self.queue.next_due == min(self.due.values(), default=None)


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


TestQueue = QueueMachine.TestCase
TestQueue.settings = settings(max_examples=30, stateful_step_count=50, deadline=None)


def test_ready_keys_come_in_the_order_in_which_they_were_added() -> None:
    async def main(world: World) -> list[Request | None]:
        queue = queue_in(world)
        for key in (B, A, C, A, B):
            queue.add(key)
        return [await queue.get(), await queue.get(), await queue.get()]

    assert simulate(main) == [B, A, C]


def test_a_fresh_change_goes_before_the_initial_listing_which_still_gets_every_fourth_turn() -> None:
    async def main(world: World) -> list[str]:
        queue = queue_in(world)
        for number in range(4):
            queue.add(Request("ns", f"old{number}"), initial=True)
        order = []
        for number in range(9):
            queue.add(Request("ns", f"new{number}"))
        for _ in range(13):
            key = await queue.get()
            assert key is not None
            order.append(key.name)
            queue.done(key)
        return order

    order = simulate(main)
    assert order[:4] == ["new0", "new1", "new2", "old0"]
    assert [place for place, name in enumerate(order) if name.startswith("old")] == [3, 7, 11, 12]


def test_the_initial_listing_is_not_starved_by_keys_that_ask_for_themselves_for_ever() -> None:
    async def main(world: World) -> int:
        queue = queue_in(world)
        for number in range(90):
            queue.add(Request("ns", f"busy{number}"))
        for number in range(3):
            queue.add(Request("ns", f"old{number}"), initial=True)
        waiting, turns = 3, 0
        while waiting:
            key = await queue.get()
            assert key is not None
            turns += 1
            waiting -= key.name.startswith("old")
            if key.name.startswith("busy"):
                queue.add(key)
            queue.done(key)
        return turns

    assert simulate(main) == 12


def test_a_key_of_the_initial_listing_that_changes_moves_to_the_front_and_runs_once() -> None:
    async def main(world: World) -> list[Request | None]:
        queue = queue_in(world)
        queue.add(A, initial=True)
        queue.add(B, initial=True)
        queue.add(B)
        order = [await queue.get(), await queue.get()]
        assert len(queue) == 0
        return order

    assert simulate(main) == [B, A]


def test_l4_a_place_left_behind_in_the_other_lane_does_not_give_out_a_key_that_runs() -> None:
    async def main(world: World) -> Request | None:
        queue = queue_in(world)
        queue.add(A, initial=True)
        queue.add(A)  # moves; its place in the initial lane stays behind
        assert await queue.get() == A
        queue.add(A, initial=True)
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
