"""`Storage`: the narrow door to whatever keeps the objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeAlias

from setpoint.cluster.server.storage.records import Change, Contents, Page, Record

Listener: TypeAlias = Callable[[Change], None]
Unsubscribe: TypeAlias = Callable[[], None]


class Storage(Protocol):
    """Objects and their history, under one revision for everything.

    Reads and writes are synchronous: what is hot is in memory, and a write is in force when `put` or `delete` returns, so that nothing has
    to be locked between reading and writing. Durability comes later. **Nothing that depends on a change may leave the server before
    `durable` has reached its revision**: neither an answer (await `settled`) nor an event (`subscribe_durable`). So a change that cannot be
    made durable can be undone without anybody having seen it, and its revision is used again.

    A storage on etcd, for those who outgrow one machine, would have to give the same: keep the objects in memory, fed by a watch of its
    prefix; write with a transaction that compares the key's modification revision with `expected` and the prefix's newest revision with the
    one before (one server writes; a lease says which); take etcd's answer for `durable`, and a transaction that failed for an undone
    change. etcd's revision belongs to all its clients, so the revision here would be a counter of its own, kept under a key that every
    transaction writes.
    """

    @property
    def revision(self) -> int:
        """The newest revision. Never 0."""
        ...

    @property
    def durable(self) -> int:
        """The newest revision that survives whatever this storage is made to survive. At most `revision`."""
        ...

    @property
    def compacted(self) -> int:
        """Nothing older than this revision can be read or replayed."""
        ...

    def get(self, collection: str, key: str) -> Record | None:
        """The object as it is."""
        ...

    def list(self, collection: str, *, prefix: str = "", start: str = "", limit: int = 0, revision: int | None = None) -> Page:
        """Objects whose key begins with `prefix` and is not before `start`, at most `limit` (0: all), as of `revision` (None: now).

        Raises `Compacted`.
        """
        ...

    def put(self, record: Record, *, expected: int) -> None:
        """Stores a record whose revision must be the next one; `expected` is the revision of what it replaces, 0 for nothing.

        Raises `Moved`, and then nothing has changed.
        """
        ...

    def delete(self, record: Record, *, expected: int) -> None:
        """Removes the object; `record` is its last state under the next revision. Raises `Moved`."""
        ...

    async def settled(self, revision: int) -> None:
        """Waits until that revision is durable. Raises `NotDurable` if it has been undone instead."""
        ...

    def history(self, after: int, collection: str | None = None) -> Iterator[Change]:
        """The changes after a revision, oldest first. Raises `Compacted`."""
        ...

    def compact(self, revision: int) -> None:
        """Forgets how things were before `revision`, or before the newest durable one if that is older."""
        ...

    def contents(self) -> Contents:
        """All that is durable, for a snapshot."""
        ...

    def subscribe(self, listener: Listener) -> Unsubscribe:
        """Calls the listener with every change, within the write itself; the returned function ends that.

        A change that is undone is followed by its reverse, the newest first. So the listener may hold what the server itself goes by, and
        must tell nobody outside.
        """
        ...

    def subscribe_durable(self, listener: Listener) -> Unsubscribe:
        """The same, as soon as the change is durable, in the order of revisions: what the listener hears may be told to everybody."""
        ...
