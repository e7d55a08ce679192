"""Where objects are kept: current values, and the history of how they came to be.

There is one revision for everything in a server. Each write makes the next one and adds one `Change` to the history, which is only ever
appended to, and shortened at its old end by compaction. From the history watches are replayed, and lists are read as they were at an older
revision. Values are bytes; next to them lies a small `Head` with what selectors look at, so that a list decodes nothing.

Everything here is synchronous: the hot state is in memory, whatever may be underneath.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

import msgspec


class Head(msgspec.Struct, frozen=True, gc=False):
    """What selectors look at: labels, and the values of the fields that can be selected by."""

    labels: Mapping[str, str] = {}
    fields: Mapping[str, str] = {}


class Record(msgspec.Struct, frozen=True, gc=False):
    """One object at one revision. `key` is `namespace/name`, or `name` for a kind without namespaces."""

    collection: str
    key: str
    value: bytes
    revision: int
    head: Head = Head()


class Change(msgspec.Struct, frozen=True, gc=False):
    """What one revision did. `record` is the state after it; where `deleted` it is the last state, under the revision of the deletion."""

    record: Record
    previous: Record | None = None
    deleted: bool = False

    @property
    def revision(self) -> int:
        """The revision that this change made."""
        return self.record.revision

    @property
    def collection(self) -> str:
        """Where it happened."""
        return self.record.collection


class Compacted(Exception):
    """The revision asked for is older than the history. `oldest` is the oldest that can still be asked for."""

    def __init__(self, asked: int, oldest: int) -> None:
        super().__init__(asked, oldest)
        self.asked = asked
        self.oldest = oldest


class Moved(Exception):
    """A write expected the object, or the storage, at another revision than it is at."""


class Page(msgspec.Struct, frozen=True):
    """Part of a collection, in the order of keys. `remaining` counts what comes after it; it is exact."""

    records: list[Record]
    remaining: int


class Storage(Protocol):
    """The narrow door to whatever keeps the objects."""

    @property
    def revision(self) -> int:
        """The newest revision. Never 0."""
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

    def history(self, after: int, collection: str | None = None) -> Iterator[Change]:
        """The changes after a revision, oldest first. Raises `Compacted`."""
        ...

    def compact(self, revision: int) -> None:
        """Forgets how things were before `revision`."""
        ...

    def subscribe(self, listener: Callable[[Change], None]) -> Callable[[], None]:
        """Calls the listener with every change, within the write itself; the returned function ends that."""
        ...


class _Collection:
    """The current records of one kind, by key and in order."""

    __slots__ = ("keys", "last_change", "records")

    def __init__(self) -> None:
        self.records: dict[str, Record] = {}
        self.keys: list[str] = []
        self.last_change = 0


class MemoryStorage:
    """Everything in memory. The history keeps the last `window` to twice `window` changes; None keeps all."""

    def __init__(self, *, window: int | None = 20_000) -> None:
        self._collections: dict[str, _Collection] = {}
        self._window = window
        self._history: list[Change] = []
        self._compacted = 1
        self._revision = 1
        self._listeners: tuple[Callable[[Change], None], ...] = ()

    @property
    def revision(self) -> int:
        """See `Storage`."""
        return self._revision

    @property
    def compacted(self) -> int:
        """See `Storage`."""
        return self._compacted

    def get(self, collection: str, key: str) -> Record | None:
        """See `Storage`."""
        kept = self._collections.get(collection)
        return kept.records.get(key) if kept is not None else None

    def list(self, collection: str, *, prefix: str = "", start: str = "", limit: int = 0, revision: int | None = None) -> Page:
        """See `Storage`."""
        if revision is not None:
            self._check(revision)
        kept = self._collections.get(collection)
        if kept is None:
            return Page([], 0)
        records, keys = kept.records, kept.keys
        if revision is not None and kept.last_change > revision:
            records = self._as_of(collection, records, revision)
            keys = sorted(records)
        first = bisect_left(keys, max(prefix, start))
        last = bisect_left(keys, _after(prefix)) if prefix else len(keys)
        end = min(last, first + limit) if limit else last
        return Page([records[key] for key in keys[first:end]], max(0, last - end))

    def _as_of(self, collection: str, records: dict[str, Record], revision: int) -> dict[str, Record]:
        """The collection as it was: today's, with every later change undone, the newest first."""
        past = dict(records)
        for change in reversed(self._history[revision - self._compacted :]):
            if change.collection == collection:
                if change.previous is None:
                    past.pop(change.record.key, None)
                else:
                    past[change.record.key] = change.previous
        return past

    def put(self, record: Record, *, expected: int) -> None:
        """See `Storage`."""
        kept = self._collections.get(record.collection)
        if kept is None:
            kept = self._collections[record.collection] = _Collection()
        previous = kept.records.get(record.key)
        self._expect(record, previous, expected)
        if previous is None:
            insort(kept.keys, record.key)
        kept.records[record.key] = record
        self._commit(kept, Change(record, previous))

    def delete(self, record: Record, *, expected: int) -> None:
        """See `Storage`."""
        kept = self._collections.get(record.collection)
        previous = kept.records.get(record.key) if kept is not None else None
        if kept is None or previous is None:
            raise Moved(f"{record.collection} {record.key} is not there")
        self._expect(record, previous, expected)
        del kept.records[record.key]
        del kept.keys[bisect_left(kept.keys, record.key)]
        self._commit(kept, Change(record, previous, True))

    def _expect(self, record: Record, previous: Record | None, expected: int) -> None:
        found = previous.revision if previous is not None else 0
        if found != expected:
            raise Moved(f"{record.collection} {record.key} is at {found}, not at {expected}")
        if record.revision != self._revision + 1:
            raise Moved(f"the next revision is {self._revision + 1}, not {record.revision}")

    def _commit(self, kept: _Collection, change: Change) -> None:
        self._revision = kept.last_change = change.revision
        self._history.append(change)
        if self._window is not None and len(self._history) > 2 * self._window:
            self.compact(self._revision - self._window)
        for listener in self._listeners:
            listener(change)

    def history(self, after: int, collection: str | None = None) -> Iterator[Change]:
        """See `Storage`."""
        self._check(after)
        changes = self._history[after - self._compacted :]
        return iter(changes if collection is None else [change for change in changes if change.collection == collection])

    def compact(self, revision: int) -> None:
        """See `Storage`. A revision that is yet to come counts as the newest."""
        revision = min(revision, self._revision)
        if revision > self._compacted:
            del self._history[: revision - self._compacted]
            self._compacted = revision

    def subscribe(self, listener: Callable[[Change], None]) -> Callable[[], None]:
        """See `Storage`."""
        self._listeners = (*self._listeners, listener)

        def unsubscribe() -> None:
            self._listeners = tuple(kept for kept in self._listeners if kept is not listener)

        return unsubscribe

    def _check(self, revision: int) -> None:
        if revision < self._compacted:
            raise Compacted(revision, self._compacted)


def _after(prefix: str) -> str:
    """The first string after all that begin with the prefix, which ends with `/`."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)
