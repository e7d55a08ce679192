"""A thread with a loop of its own, and what is held open there."""

import asyncio
import contextlib
import threading

import pytest

from setpoint.world.loop_thread import LoopThread


@contextlib.asynccontextmanager
async def resource(story):
    story.append(("enter", threading.current_thread().name, asyncio.current_task()))
    try:
        yield len(story)
    finally:
        story.append(("leave", threading.current_thread().name, asyncio.current_task()))


def test_what_is_held_is_entered_and_left_in_one_task_of_the_thread():
    story = []
    with LoopThread("other") as thread, thread.hold(lambda: resource(story)) as value:
        assert value == 1
        assert [step[:2] for step in story] == [("enter", "other")]
    assert [step[:2] for step in story] == [("enter", "other"), ("leave", "other")]
    assert story[0][2] is story[1][2]


def test_a_caller_with_a_loop_does_not_block_it():
    story = []

    async def main():
        with LoopThread("other") as thread:
            async with thread.holding(lambda: resource(story)) as value:
                assert value == 1
        return [step[0] for step in story]

    assert asyncio.run(main()) == ["enter", "leave"]


def test_an_error_on_the_way_in_reaches_the_caller():
    @contextlib.asynccontextmanager
    async def broken():
        raise LookupError("no way in")
        yield

    with LoopThread("other") as thread, pytest.raises(LookupError, match="no way in"), thread.hold(broken):
        pass


def test_an_error_on_the_way_out_reaches_the_caller():
    @contextlib.asynccontextmanager
    async def broken():
        yield
        raise LookupError("no way out")

    with LoopThread("other") as thread, pytest.raises(LookupError, match="no way out"), thread.hold(broken):
        pass


def test_coroutines_run_there():
    async def where():
        return threading.current_thread().name

    with LoopThread("other") as thread:
        assert thread.run(where()) == "other"


def test_at_the_end_what_still_runs_is_cancelled_and_waited_for():
    story = []

    async def long():
        try:
            story.append("begun")
            begun.set()
            await asyncio.sleep(3600)
        finally:
            await asyncio.sleep(0)
            story.append("cleaned up")

    begun = threading.Event()
    with LoopThread("other") as thread:
        future = thread.submit(long())
        begun.wait()
    assert story == ["begun", "cleaned up"]
    assert future.cancelled()


def test_after_the_end_it_refuses_with_its_name():
    async def nothing():
        pass

    with LoopThread("other") as thread:
        pass
    with pytest.raises(RuntimeError, match="the thread other does not run"):
        thread.submit(nothing())
