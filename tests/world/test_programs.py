"""Other programs are run to their end, or killed with all that they started; nothing of them stays open."""

import asyncio
import os
import select
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from setpoint.world import Printed, World, real_world, simulate
from setpoint.world.loop_thread import fast_loop


@pytest.fixture(params=[fast_loop, asyncio.new_event_loop], ids=["fast", "standard"])
def run(request: pytest.FixtureRequest) -> Callable[[Coroutine[Any, Any, Any]], Any]:
    def run(main: Coroutine[Any, Any, Any]) -> Any:
        with asyncio.Runner(loop_factory=request.param) as runner:
            return runner.run(main)

    return run


async def shell(script: str, heard: Callable[[str], None] = print, *, seconds: float = 30.0, **env: str) -> Printed:
    return await real_world().programs.run(["sh", "-c", script], env=env, interactive=False, seconds=seconds, heard=heard)


def is_gone(process: int, *, patience: float = 30.0) -> bool:
    """Whether a process ends within so many seconds."""
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], patience)[0])
    finally:
        os.close(handle)


def test_output_code_and_each_line_of_the_standard_error_are_told(run: Any) -> None:
    heard: list[str] = []
    said = run(shell('printf "%s" "$WORD"; printf "one\\ntwo\\nthree" >&2; exit 3', heard.append, WORD="spoken"))
    assert said == Printed(3, b"spoken")
    assert heard == ["one", "two", "three"]


def test_one_that_takes_too_long_is_killed_with_all_that_it_started(run: Any) -> None:
    heard: list[str] = []
    for seconds in (0.3, 3, 30):  # as long as this machine needs, just now, to start a program
        with pytest.raises(TimeoutError):
            run(shell("sleep 600 & echo $! >&2; wait", heard.append, seconds=seconds))
        if heard:
            break
    assert is_gone(int(heard[0]))


def test_one_whose_caller_is_cancelled_is_killed(run: Any) -> None:
    heard: list[str] = []

    async def main() -> None:
        started = asyncio.Event()
        task = asyncio.create_task(shell("echo $$ >&2; exec sleep 600", lambda line: (heard.append(line), started.set())[0]))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(main())
    assert is_gone(int(heard[0]))


def test_one_that_leaves_another_behind_is_not_waited_for_longer_than_it_takes(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("setpoint.world.programs._LINGER", 0.1)
    heard: list[str] = []
    said = run(shell("sleep 600 & echo $! >&2; echo done", heard.append))
    assert said == Printed(0, b"done\n")
    assert not is_gone(int(heard[0]), patience=0)
    run(shell(f"kill {heard[0]}"))


def test_one_that_is_not_there_is_told(run: Any) -> None:
    with pytest.raises(FileNotFoundError):
        run(real_world().programs.run(["no-such-program-anywhere"], env={}, interactive=False, seconds=1, heard=print))


def test_in_simulated_time_there_are_none() -> None:
    async def main(world: World) -> None:
        with pytest.raises(OSError, match="no other programs run in simulated time, so 'sh' cannot"):
            await world.programs.run(["sh"], env={}, interactive=False, seconds=1, heard=print)

    simulate(main)
