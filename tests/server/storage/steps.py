"""Random histories for storages, and what can be seen of one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

from hypothesis import strategies as st

from setpoint.cluster.server.storage import Change, Compacted, Head, Record, SqliteStorage, Storage, data_folder
from setpoint.world import World, simulate

COLLECTIONS = ("/configmaps", "example.com/widgets")
KEYS = ("a/x", "a/y", "a-b/x", "b/x")
Step: TypeAlias = tuple[Any, ...]

writes = st.one_of(
    st.tuples(st.just("put"), st.sampled_from(COLLECTIONS), st.sampled_from(KEYS), st.text(max_size=3)),
    st.tuples(st.just("delete"), st.sampled_from(COLLECTIONS), st.sampled_from(KEYS)),
)
steps = st.lists(st.one_of(writes, writes, writes, st.tuples(st.just("compact"), st.integers(0, 8)), st.just(("restart",))), max_size=25)


def take(storage: Storage, step: Step) -> None:
    """One write, or a compaction. A delete of what is not there is none."""
    if step[0] == "compact":
        storage.compact(storage.revision - step[1])
        return
    found, revision = storage.get(step[1], step[2]), storage.revision + 1
    expected = found.revision if found is not None else 0
    if step[0] == "put":
        value = b'{"revision":%d}' % revision
        head = Head({"text": step[3]}, {"metadata.name": "ü"}) if step[3] else Head(bare=step[2] == "a/x")
        storage.put(Record(step[1], step[2], value, revision, head), expected=expected)
    elif found is not None:
        storage.delete(Record(found.collection, found.key, found.value, revision, found.head), expected=expected)


def seen(storage: Storage) -> dict[str, Any]:
    """Everything that a storage can be asked."""
    past: dict[int, Any] = {}
    for revision in range(1, storage.revision + 1):
        try:
            lists = [storage.list(name, revision=revision).records for name in COLLECTIONS]
            past[revision] = (lists, list(storage.history(revision)))
        except Compacted as error:
            past[revision] = error.args
    now = [[storage.list(name, prefix=prefix, limit=2) for prefix in ("", "a/")] for name in COLLECTIONS]
    return {"revision": storage.revision, "durable": storage.durable, "compacted": storage.compacted, "now": now, "past": past}


def in_folder(folder: Path, main: Callable[[SqliteStorage], Awaitable[None]], **options: Any) -> None:
    """Runs something with the storage of a folder, in simulated time."""

    async def run(world: World) -> None:
        async with data_folder(world, folder, **options) as storage:
            await main(storage)

    simulate(run)


def held(folder: Path) -> tuple[int, list[Change]]:
    """The revision of a folder that nobody uses, and its history."""
    found: list[Any] = []

    async def main(storage: SqliteStorage) -> None:
        found.append((storage.revision, list(storage.history(storage.compacted))))

    in_folder(folder, main)
    return found[0]
