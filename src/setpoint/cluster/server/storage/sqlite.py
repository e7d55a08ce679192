"""`SqliteStorage`: everything hot in memory, everything durable in a data folder (see `database`).

Changes are written behind the requests that made them, by one thread, one batch after another: what comes while a batch is on its way to
the disk is the next batch. So a flush costs as much for a thousand concurrent writes as for one. A batch that cannot be written is undone
together with all that came after it; the next write is tried as if nothing had been.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from contextvars import copy_context
from os import PathLike
from pathlib import Path

from setpoint.cluster.server.storage.database import Batch, Database, open_database
from setpoint.cluster.server.storage.memory import WINDOW, MemoryStorage
from setpoint.cluster.server.storage.records import Change, Contents, NotDurable
from setpoint.world import World
from setpoint.world.threads import Threads


class SqliteStorage(MemoryStorage):
    """A storage in a data folder. `data_folder` opens one."""

    def __init__(self, database: Database, thread: Threads, contents: Contents, *, window: int | None = WINDOW) -> None:
        super().__init__(window=window, contents=contents)
        self._database = database
        self._thread = thread
        self._durable = contents.revision
        self._written = contents.compacted
        self._pending: list[Change] = []
        self._dropped: list[int] = []
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._writing: asyncio.Task[None] | None = None
        self._context = copy_context()

    @property
    def durable(self) -> int:
        """See `Storage`."""
        return self._durable

    @property
    def folder(self) -> Path:
        """Where everything is."""
        return self._database.folder

    async def settled(self, revision: int) -> None:
        """See `Storage`."""
        if revision <= self._durable:
            return
        if revision > self._revision:
            raise NotDurable(f"revision {revision} has been undone, or never was")
        settled: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((revision, settled))
        await settled

    async def close(self) -> None:
        """Waits for what is being written, and lets go of the folder."""
        try:
            if self._writing is not None:
                await self._writing
            await self._thread.run(self._database.close)
        finally:
            await self._thread.close()

    def _keep(self, change: Change) -> None:
        self._pending.append(change)
        self._write_soon()

    def _forget(self, changes: Sequence[Change]) -> None:
        for change in changes:
            if change.previous is not None:
                self._dropped.append(change.previous.revision)
            if change.deleted:
                self._dropped.append(change.revision)
        self._write_soon()

    def _write_soon(self) -> None:
        if self._writing is None:
            # The storage's own task: a simulated client that is killed does not take it along.
            self._writing = asyncio.get_running_loop().create_task(self._write(), name="storage-writer", context=self._context)

    async def _write(self) -> None:
        try:
            while self._pending or self._written != self._compacted:
                batch = Batch(self._durable, self._pending, self._compacted, self._dropped)
                self._pending, self._dropped = [], []
                try:
                    await self._thread.run(self._database.write, batch)
                except NotDurable as error:
                    self._dropped = batch.dropped + self._dropped  # with the next batch that can be written
                    self._fail(error)
                    return
                self._written = batch.compacted
                self._advance(batch)
        finally:
            self._writing = None

    def _advance(self, batch: Batch) -> None:
        self._durable = batch.revision
        for change in batch.changes:
            super()._keep(change)
        self._shorten()
        while self._waiting and self._waiting[0][0] <= self._durable:
            settled = self._waiting.popleft()[1]
            if not settled.done():
                settled.set_result(None)

    def _fail(self, error: NotDurable) -> None:
        """Nothing after the newest durable revision has been. Whoever waits has seen some of that."""
        self._pending = []
        self._undo(self._durable)
        waiting, self._waiting = self._waiting, deque()
        for _, settled in waiting:
            if not settled.done():
                settled.set_exception(NotDurable(*error.args))


@asynccontextmanager
async def data_folder(
    world: World, folder: str | PathLike[str], *, window: int | None = WINDOW, contents: Contents | None = None
) -> AsyncIterator[SqliteStorage]:
    """Opens the storage in a folder while the context is open, and locks it against other servers.

    A folder that is not there is made. `contents` (see `snapshot`) go into a new one; one that holds a cluster already is refused then.
    Raises `DataFault`.
    """
    thread = world.threads.apart("setpoint-storage")
    try:
        database, found = await thread.run(open_database, Path(folder), contents)
    except BaseException:
        await thread.close()
        raise
    storage = SqliteStorage(database, thread, found, window=window)
    try:
        yield storage
    finally:
        await storage.close()
