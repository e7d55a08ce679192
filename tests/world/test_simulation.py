"""The simulated loop: time that jumps, order that repeats, processes that die without a word."""

import asyncio
import contextvars
import subprocess
import sys
from datetime import timedelta

import pytest

from setpoint.world import PROCESS, Deadlock, World, new_loop, run_to_end, simulate, simulated_world


def test_an_hour_costs_nothing():
    async def main(world: World):
        before = world.clock.now()
        await asyncio.sleep(3600)
        return world.clock.now() - before

    assert simulate(main) == timedelta(hours=1)


def test_timeouts_fire_in_simulated_time():
    async def main(world: World):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(30):
                await asyncio.get_running_loop().create_future()
        return asyncio.get_running_loop().time()

    assert simulate(main) == 30


def test_waiting_for_nothing_is_a_deadlock_not_a_hang():
    async def main(world: World):
        await asyncio.get_running_loop().create_future()

    with pytest.raises(Deadlock, match="task-"):
        simulate(main)


def test_an_exception_that_nobody_sees_ends_the_run():
    async def main(world: World):
        asyncio.get_running_loop().call_soon(lambda: 1 / 0)
        await asyncio.sleep(1)

    with pytest.raises(ZeroDivisionError):
        simulate(main)


def test_an_exception_of_a_task_that_is_kept_and_never_awaited_ends_it_too():
    """Whatever the garbage collector finds, and when."""
    kept = []

    async def fail() -> None:
        raise ZeroDivisionError

    async def main(world: World):
        kept.append(asyncio.create_task(fail()))
        await asyncio.sleep(1)

    with pytest.raises(ZeroDivisionError):
        simulate(main)


def test_an_exception_that_somebody_has_seen_does_not():
    async def fail() -> None:
        raise ZeroDivisionError

    async def main(world: World):
        task = asyncio.create_task(fail())
        await asyncio.sleep(1)
        with pytest.raises(ZeroDivisionError):
            await task
        assert (await asyncio.gather(*(fail() for _ in range(200)), return_exceptions=True))[199].args == ()

    simulate(main)


def test_a_killed_process_is_never_resumed_and_no_finally_of_it_runs():
    loop = new_loop()
    said = []

    async def victim():
        try:
            await asyncio.sleep(10)
            said.append("woke")
        finally:
            said.append("finally")

    async def main():
        context = contextvars.copy_context()
        context.run(PROCESS.set, "controller-1")
        asyncio.get_running_loop().create_task(victim(), context=context)
        await asyncio.sleep(5)
        loop.kill("controller-1")
        await asyncio.sleep(10)
        return list(said)

    task = loop.create_task(main())
    assert loop.run_until_complete(task) == []
    loop.close()
    for left in loop.graveyard:
        if isinstance(left, asyncio.Task):
            left._log_destroy_pending = False
            left.get_coro().close()


def test_a_task_with_a_context_of_its_own_belongs_to_nobody_even_if_that_is_empty():
    async def main(world: World):
        seen = []

        async def work():
            seen.append(PROCESS.get())

        async def process():
            await asyncio.get_running_loop().create_task(work(), context=contextvars.Context())
            await asyncio.get_running_loop().create_task(work())

        context = contextvars.copy_context()
        context.run(PROCESS.set, "p1")
        await asyncio.get_running_loop().create_task(process(), context=context)
        return seen

    assert simulate(main) == ["", "p1"]


def test_a_paused_process_goes_on_later_with_all_its_parts_and_in_order():
    async def main(world: World):
        loop, said = asyncio.get_running_loop(), []

        async def tick(name):
            for number in range(3):
                await asyncio.sleep(1)
                said.append(f"{name}{number} at {loop.time():g}")

        for name in ("a", "a/part", "ab"):
            context = contextvars.copy_context()
            context.run(PROCESS.set, name)
            loop.create_task(tick(name), context=context)
        await asyncio.sleep(1.5)
        loop.pause("a")
        await asyncio.sleep(8.5)
        loop.resume("a")
        await asyncio.sleep(5)
        return said

    assert simulate(main) == [
        *("a0 at 1", "a/part0 at 1", "ab0 at 1", "ab1 at 2", "ab2 at 3"),
        *("a1 at 10", "a/part1 at 10", "a2 at 11", "a/part2 at 11"),
    ]


def test_plain_functions_run_in_a_thread_and_hand_over_strictly():
    async def main(world: World):
        order = []

        async def slow(i):
            await asyncio.sleep(i)
            order.append(f"loop {i}")
            return i

        def blocking(i):
            order.append(f"thread {i}")
            return world.threads.call(lambda: slow(i)) + 100

        results = await asyncio.gather(world.threads.run(blocking, 2), world.threads.run(blocking, 1))
        return results, order

    assert simulate(main) == ([102, 101], ["thread 2", "thread 1", "loop 1", "loop 2"])


def test_an_exception_in_a_thread_comes_back():
    async def main(world: World):
        def blocking():
            raise KeyError("x")

        with pytest.raises(KeyError):
            await world.threads.run(blocking)

    simulate(main)


def test_blocking_calls_outside_a_thread_are_refused():
    async def main(world: World):
        with pytest.raises(RuntimeError, match="plain `def` reconciler"):
            world.threads.call(lambda: asyncio.sleep(0))

    simulate(main)


TRACE = """
import asyncio
from setpoint.world import simulate

async def main(world):
    trace = []
    async def worker(name):
        for _ in range(20):
            await asyncio.sleep(world.chance.uniform(0, 1))
            trace.append((name, world.chance.uuid()))
    async with asyncio.TaskGroup() as group:
        for name in "abcdef":
            group.create_task(worker(name))
    return trace

import sys
print(simulate(main, seed=int(sys.argv[1])))
"""


def test_same_seed_same_trace_under_every_hash_seed_and_another_seed_another_trace():
    def trace(seed, hashseed):
        return subprocess.run(
            [sys.executable, "-c", TRACE, str(seed)], env={"PYTHONHASHSEED": hashseed}, capture_output=True, text=True, check=True
        ).stdout

    assert trace(1, "1") == trace(1, "2") != trace(2, "1")


def test_tasks_left_over_are_cancelled_at_the_end():
    loop = new_loop()
    ended = []

    async def forever():
        try:
            await asyncio.sleep(1e9)
        finally:
            ended.append(True)

    async def main(world):
        world_task = asyncio.get_running_loop().create_task(forever())
        await asyncio.sleep(0)
        return world_task

    run_to_end(loop, main(simulated_world(loop)))
    loop.close()
    assert ended == [True]
