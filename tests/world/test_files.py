"""Files: what lasts, and who may write it."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from setpoint.world import World, real_world, simulate
from setpoint.world.files import FileLock, Locked, replace_file


def test_a_lock_has_one_holder_at_a_time_who_is_named(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock", "the first one")
    with pytest.raises(Locked) as error:
        FileLock(tmp_path / "lock", "the second one")
    assert error.value.holder == "the first one"
    lock.release()
    FileLock(tmp_path / "lock", "the third one").release()


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    program = "import sys; from pathlib import Path; from setpoint.world.files import FileLock\n"
    program += "lock = FileLock(Path(sys.argv[1]), 'a process that dies'); print('locked', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", program, str(tmp_path / "lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        with pytest.raises(Locked, match="by a process that dies"):
            FileLock(tmp_path / "lock", "")
        process.send_signal(signal.SIGKILL)
        process.wait()
    FileLock(tmp_path / "lock", "").release()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has locks everywhere")
def test_a_file_system_without_locks_is_no_other_holder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(OSError, match="No locks available"):
        FileLock(tmp_path / "lock", "nobody")


def test_a_file_is_replaced_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "file"
    replace_file(file, [b"one ", b"whole"])
    assert file.read_bytes() == b"one whole"
    assert file.stat().st_mode & 0o777 == 0o600

    def breaks() -> Iterator[bytes]:
        yield b"half of "
        raise RuntimeError("the rest is not to be had")

    with pytest.raises(RuntimeError, match="the rest"):
        replace_file(file, breaks())
    assert file.read_bytes() == b"one whole"
    assert os.listdir(tmp_path) == ["file"]


def test_a_thread_apart_runs_one_function_after_another_and_waits_for_no_other_thread() -> None:
    async def main() -> None:
        world = real_world(threads=1)
        apart = world.threads.apart("apart")
        busy = threading.Event()
        blocked = asyncio.create_task(world.threads.run(busy.wait))
        await asyncio.sleep(0)
        names = [await apart.run(lambda: threading.current_thread().name) for _ in range(2)]
        assert names == ["apart_0", "apart_0"]
        busy.set()
        await blocked
        await apart.close()
        await world.threads.close()

    asyncio.run(main())


def test_a_thread_apart_is_there_in_simulated_time_too() -> None:
    async def main(world: World) -> int:
        return await world.threads.apart("apart").run(int, "7")

    assert simulate(main) == 7
