"""A data folder holds what memory would, whatever happens to it; and a snapshot holds what either does."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.server.storage.steps import Step, held, seen, steps, take, writes

from setpoint.cluster.server.storage import Change, MemoryStorage, data_folder, load_snapshot, save_snapshot
from setpoint.world import World, simulate


@settings(max_examples=40, deadline=None)
@given(steps, st.one_of(st.none(), st.integers(0, 6)))
def test_a_data_folder_answers_as_memory_does_also_after_restarts(story: list[Step], window: int | None) -> None:
    memory = MemoryStorage(window=window)
    with tempfile.TemporaryDirectory() as folder:

        async def main(world: World) -> None:
            async with AsyncExitStack() as stack:
                storage = await stack.enter_async_context(data_folder(world, folder, window=window))
                told: list[Change] = []
                storage.subscribe_durable(told.append)
                first = storage.revision
                for step in story:
                    if step == ("restart",):
                        await stack.aclose()
                        assert [change.revision for change in told] == list(range(first + 1, memory.revision + 1))
                        storage = await stack.enter_async_context(data_folder(world, folder, window=window))
                        told, first = [], storage.revision
                        storage.subscribe_durable(told.append)
                        assert seen(storage) == seen(memory)
                        continue
                    take(memory, step)
                    take(storage, step)
                    await storage.settled(storage.revision)
                assert seen(storage) == seen(memory)

        simulate(main)


@settings(max_examples=25, deadline=None)
@given(steps, st.one_of(st.none(), st.integers(0, 6)))
def test_a_snapshot_gives_back_all_that_was_held(story: list[Step], window: int | None) -> None:
    memory = MemoryStorage(window=window)
    for step in story:
        if step != ("restart",):
            take(memory, step)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "snapshot")
        assert save_snapshot(memory, file) == memory.revision
        assert seen(MemoryStorage(window=window, contents=load_snapshot(file))) == seen(memory)

        async def main(world: World) -> None:
            async with data_folder(world, Path(folder, "data"), window=window, contents=load_snapshot(file)) as storage:
                assert seen(storage) == seen(memory)
                save_snapshot(storage, Path(folder, "again"))
            async with data_folder(world, Path(folder, "data"), window=window) as storage:
                assert seen(storage) == seen(memory)

        simulate(main)
        assert Path(folder, "again").read_bytes() == file.read_bytes()


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_whatever_a_crash_leaves_of_the_log_everything_acknowledged_is_there_and_no_batch_in_part(data: st.DataObject) -> None:
    """The log is written at its end, and what a crash leaves of that is any part of it, or rubbish."""
    before, last = data.draw(st.lists(writes, max_size=6)), data.draw(st.lists(writes, min_size=1, max_size=6))
    with tempfile.TemporaryDirectory() as place:
        folder, crashed = Path(place, "data"), Path(place, "crashed")
        expected: dict[str, tuple[int, list[Change]]] = {}

        async def main(world: World) -> None:
            async with data_folder(world, folder) as storage:
                for batch, name in ((before, "before"), (last, "after")):
                    for step in batch:
                        take(storage, step)
                    await storage.settled(storage.revision)
                    expected[name] = (storage.revision, list(storage.history(1)))
                    shutil.copytree(folder, Path(place, name))

        simulate(main)
        wal = "setpoint.db-wal"
        old = Path(place, "before", wal).read_bytes() if Path(place, "before", wal).exists() else b""
        new = Path(place, "after", wal).read_bytes() if Path(place, "after", wal).exists() else b""
        cut = data.draw(st.integers(len(old), len(new)))
        rubbish = data.draw(st.binary(max_size=40))
        shutil.copytree(Path(place, "before"), crashed)
        (crashed / "setpoint.db-shm").unlink(missing_ok=True)
        (crashed / wal).write_bytes(new[:cut] + rubbish)
        assert held(crashed) in (expected["before"], expected["after"])
        if cut == len(new):
            assert held(crashed) == expected["after"]


def test_what_comes_while_a_batch_is_written_is_the_next_batch(tmp_path: Path) -> None:
    async def main(world: World) -> None:
        async with data_folder(world, tmp_path) as storage:
            sizes: list[int] = []
            write = storage._database.write
            storage._database.write = lambda batch: (sizes.append(len(batch.changes)), write(batch))  # type: ignore[assignment, func-returns-value]
            for number in range(100):
                take(storage, ("put", "c", f"a/{number}", ""))
            await asyncio.gather(*(storage.settled(revision) for revision in range(2, 102)))
            assert sizes == [100]

    simulate(main)
