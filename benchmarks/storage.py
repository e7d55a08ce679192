"""What keeping everything in a data folder costs beside keeping it in memory, and how long a server takes to start with what it holds.

    python benchmarks/storage.py [OBJECTS]

Objects are ConfigMaps of about 2 KB. Creates go through `ApiServer.handle`, so many at a time; `stall` is the longest time in which the
event loop did nothing else. CPU is that of the whole process. `start` is `setpoint server --data` until `ready`, CPU of its process.
"""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec

from setpoint.api import Answer, GroupVersionResource, Operation
from setpoint.cluster.server import ApiServer, MemoryStorage
from setpoint.cluster.server.storage import Record, Storage, data_folder, load_snapshot, save_snapshot
from setpoint.cluster.server.storage.database import open_database
from setpoint.world import World, real_world
from setpoint.world.loop_thread import fast_loop

CONFIGMAPS = GroupVersionResource("", "v1", "configmaps")
TEXT = "x" * 1800


async def hot_path(times: int = 100_000) -> None:
    """One object that is put again and again, with nothing around the storage."""
    storage = MemoryStorage()
    value = TEXT.encode()
    taken = []
    for _ in range(5):
        records = [Record("/configmaps", "default/a", value, storage.revision + 1 + number) for number in range(times)]
        started = time.process_time()
        for record in records:
            storage.put(record, expected=0 if record.revision == 2 else record.revision - 1)
        taken.append(time.process_time() - started)
    print(f"put in memory, storage alone             {min(taken) / times * 1e6:6.2f} us CPU")


def create(name: str) -> Operation:
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"text": TEXT}}
    return Operation(
        verb="create", resource=CONFIGMAPS, namespace="default", body=msgspec.json.encode(obj), content_type="application/json"
    )


async def writes(world: World, storage: Storage | None, what: str, concurrency: int, count: int) -> None:
    server = ApiServer(world, storage=storage)
    operations = iter([create(f"{what.replace(' ', '-')}-{concurrency}-{number}") for number in range(count)])
    stall, beating = 0.0, True

    async def heart() -> None:
        nonlocal stall
        while beating:
            before = time.perf_counter()
            await asyncio.sleep(0.001)
            stall = max(stall, time.perf_counter() - before - 0.001)

    async def client() -> None:
        for operation in operations:
            outcome = await server.handle(operation)
            assert isinstance(outcome, Answer)
            assert outcome.ok, outcome.body
            await asyncio.sleep(0)

    heartbeat = asyncio.create_task(heart())
    await asyncio.sleep(0.01)
    stall = 0.0
    cpu, wall = time.process_time(), time.perf_counter()
    await asyncio.gather(*(client() for _ in range(concurrency)))
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    beating = False
    await heartbeat
    print(
        f"creates, {what:14} {concurrency:5} at a time   {cpu / count * 1e6:6.0f} us CPU {wall / count * 1e6:6.0f} us wall "
        f"{count / wall:8,.0f} a second, stall {stall * 1e3:5.1f} ms"
    )
    server.stop()


async def all_writes() -> None:
    for concurrency, count in ((1, 2000), (64, 10_000), (2000, 10_000)):
        await writes(real_world(), None, "in memory", concurrency, count)
        with tempfile.TemporaryDirectory() as folder:
            async with data_folder(real_world(), folder) as storage:
                await writes(real_world(), storage, "in a folder", concurrency, count)


async def fill(folder: Path, objects: int) -> None:
    async with AsyncExitStack() as stack:
        storage = await stack.enter_async_context(data_folder(real_world(), folder))
        server = ApiServer(real_world(), storage=storage)
        for first in range(0, objects, 500):
            await asyncio.gather(*(server.handle(create(f"object-{number}")) for number in range(first, min(objects, first + 500))))
        server.stop()


def opening(folder: Path, objects: int) -> None:
    cpu = time.process_time()
    with sqlite3.connect(folder / "setpoint.db") as connection:
        connection.execute("PRAGMA quick_check").fetchall()
    print(f"{objects} objects, {(folder / 'setpoint.db').stat().st_size / 1e6:.0f} MB")
    print(f"    SQLite's quick_check alone           {time.process_time() - cpu:6.3f} s CPU")
    cpu = time.process_time()
    database, contents = open_database(folder)
    print(f"    open: check, read, compare all sums  {time.process_time() - cpu:6.3f} s CPU")
    database.close()
    memory = MemoryStorage(contents=contents)
    cpu = time.process_time()
    save_snapshot(memory, folder / "snapshot")
    print(f"    snapshot to a file                   {time.process_time() - cpu:6.3f} s CPU")
    cpu = time.process_time()
    load_snapshot(folder / "snapshot")
    print(f"    and back                             {time.process_time() - cpu:6.3f} s CPU")


def start(folder: Path | None, place: Path) -> float:
    command = [sys.executable, "-m", "setpoint", "server", "--write-kubeconfig", str(place / "kubeconfig")]
    command += ["--data", str(folder)] if folder is not None else []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline().startswith("ready ")
        ticks = Path(f"/proc/{program.pid}/stat").read_text().rsplit(")", 1)[1].split()
        program.send_signal(signal.SIGTERM)
    return (int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK")


def main(objects: int) -> None:
    with asyncio.Runner(loop_factory=fast_loop) as runner:
        runner.run(hot_path())
        runner.run(all_writes())
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place, "data")
            runner.run(fill(folder, objects))
            opening(folder, objects)
            start(None, Path(place))  # compiles
            for name, data in (("in memory", None), ("with an empty folder", Path(place, "empty")), (f"with {objects} objects", folder)):
                print(f"start {name:34} {min(start(data, Path(place)) for _ in range(3)):6.2f} s CPU")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
