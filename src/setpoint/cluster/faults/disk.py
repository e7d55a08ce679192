"""A disk that takes its time: what is written is durable later, and is told of later."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from contextvars import copy_context

from setpoint.cluster.server.storage import Change, Contents, Page, Record, Storage

Listener = Callable[[Change], None]


class SlowDisk:
    """Another storage, whose changes are durable so many seconds later, in order: writes are answered then, and watches told of them."""

    def __init__(self, storage: Storage, seconds: float) -> None:
        self._storage = storage
        self._seconds = seconds
        self._durable = storage.durable
        self._coming: deque[Change] = deque()
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._listeners: tuple[Listener, ...] = ()
        self._context = copy_context()
        storage.subscribe_durable(self._begin)

    @property
    def revision(self) -> int:
        """See `Storage`."""
        return self._storage.revision

    @property
    def durable(self) -> int:
        """See `Storage`."""
        return self._durable

    @property
    def compacted(self) -> int:
        """See `Storage`."""
        return self._storage.compacted

    def get(self, collection: str, key: str) -> Record | None:
        """See `Storage`."""
        return self._storage.get(collection, key)

    def list(self, collection: str, *, prefix: str = "", start: str = "", limit: int = 0, revision: int | None = None) -> Page:
        """See `Storage`."""
        return self._storage.list(collection, prefix=prefix, start=start, limit=limit, revision=revision)

    def put(self, record: Record, *, expected: int) -> None:
        """See `Storage`."""
        self._storage.put(record, expected=expected)

    def delete(self, record: Record, *, expected: int) -> None:
        """See `Storage`."""
        self._storage.delete(record, expected=expected)

    async def settled(self, revision: int) -> None:
        """See `Storage`."""
        await self._storage.settled(revision)
        if revision > self._durable:
            settled: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append((revision, settled))
            await settled

    def history(self, after: int, collection: str | None = None) -> Iterator[Change]:
        """See `Storage`."""
        return self._storage.history(after, collection)

    def compact(self, revision: int) -> None:
        """See `Storage`."""
        self._storage.compact(min(revision, self._durable))

    def contents(self) -> Contents:
        """See `Storage`."""
        return self._storage.contents()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """See `Storage`."""
        return self._storage.subscribe(listener)

    def subscribe_durable(self, listener: Listener) -> Callable[[], None]:
        """See `Storage`."""
        self._listeners = (*self._listeners, listener)

        def unsubscribe() -> None:
            self._listeners = tuple(kept for kept in self._listeners if kept is not listener)

        return unsubscribe

    def _begin(self, change: Change) -> None:
        # The disk's own timer: a simulated client that is killed does not take it along.
        self._coming.append(change)
        asyncio.get_running_loop().call_later(self._seconds, self._end, context=self._context)

    def _end(self) -> None:
        change = self._coming.popleft()  # timers of one moment may come in any order
        self._durable = change.revision
        for listener in self._listeners:
            listener(change)
        while self._waiting and self._waiting[0][0] <= self._durable:
            settled = self._waiting.popleft()[1]
            if not settled.done():
                settled.set_result(None)
