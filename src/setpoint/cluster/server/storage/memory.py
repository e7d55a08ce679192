"""`MemoryStorage`: current values and history, in memory and nowhere else."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Sequence

from setpoint.cluster.server.storage.interface import Listener, Unsubscribe
from setpoint.cluster.server.storage.records import Change, Compacted, Contents, Moved, Page, Record

FIRST = 1
"""The revision of a storage that nothing has been written to."""
WINDOW = 20_000
"""Changes that the history keeps at least."""


class _Collection:
    """The current records of one kind, by key and in order."""

    __slots__ = ("keys", "last_change", "records")

    def __init__(self) -> None:
        self.records: dict[str, Record] = {}
        self.keys: list[str] = []
        self.last_change = 0


class MemoryStorage:
    """Everything in memory. The history keeps the last `window` to twice `window` changes; None keeps all.

    Every change is durable at once: it lasts as long as everything else here. It is empty, or takes over the `contents` of another one.
    """

    def __init__(self, *, window: int | None = WINDOW, contents: Contents | None = None) -> None:
        self._collections: dict[str, _Collection] = {}
        self._window = window
        self._history: list[Change] = []
        self._compacted = FIRST
        self._revision = FIRST
        self._listeners: tuple[Listener, ...] = ()
        self._durable_listeners: tuple[Listener, ...] = ()
        if contents is not None:
            self._fill(contents)

    @property
    def revision(self) -> int:
        """See `Storage`."""
        return self._revision

    @property
    def durable(self) -> int:
        """See `Storage`."""
        return self._revision

    @property
    def compacted(self) -> int:
        """See `Storage`."""
        return self._compacted

    # reads

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

    def history(self, after: int, collection: str | None = None) -> Iterator[Change]:
        """See `Storage`."""
        self._check(after)
        changes = self._history[after - self._compacted :]
        return iter(changes if collection is None else [change for change in changes if change.collection == collection])

    def _check(self, revision: int) -> None:
        if revision < self._compacted:
            raise Compacted(revision, self._compacted)

    # writes

    def put(self, record: Record, *, expected: int) -> None:
        """See `Storage`."""
        kept = self._collections.get(record.collection) or self._collection(record.collection)
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

    async def settled(self, revision: int) -> None:
        """See `Storage`."""

    def _collection(self, name: str) -> _Collection:
        kept = self._collections.get(name)
        if kept is None:
            kept = self._collections[name] = _Collection()
        return kept

    def _expect(self, record: Record, previous: Record | None, expected: int) -> None:
        found = previous.revision if previous is not None else 0
        if found != expected:
            raise Moved(f"{record.collection} {record.key} is at {found}, not at {expected}")
        if record.revision != self._revision + 1:
            raise Moved(f"the next revision is {self._revision + 1}, not {record.revision}")

    def _commit(self, kept: _Collection, change: Change) -> None:
        self._revision = kept.last_change = change.revision
        self._history.append(change)
        for listener in self._listeners:
            listener(change)
        self._keep(change)
        if self._window is not None and len(self._history) > 2 * self._window:
            self._shorten()

    def _keep(self, change: Change) -> None:
        """Makes a change durable, now or later, and tells of it then."""
        for listener in self._durable_listeners:
            listener(change)

    def _undo(self, down_to: int) -> None:
        """Takes back every change after a revision, the newest first."""
        while self._revision > down_to:
            change = self._history.pop()
            record, previous = change.record, change.previous
            kept = self._collections[record.collection]
            if previous is None:
                del kept.records[record.key]
                del kept.keys[bisect_left(kept.keys, record.key)]
            else:
                kept.records[record.key] = previous
                if change.deleted:
                    insort(kept.keys, record.key)
            self._revision -= 1
            for listener in self._listeners:
                listener(change.reversed())

    # history

    def compact(self, revision: int) -> None:
        """See `Storage`."""
        revision = min(revision, self.durable)
        if revision > self._compacted:
            gone = self._history[: revision - self._compacted]
            del self._history[: len(gone)]
            self._compacted = revision
            self._forget(gone)

    def _shorten(self) -> None:
        """Keeps the history within its bounds."""
        if self._window is not None and len(self._history) > 2 * self._window:
            self.compact(self._revision - self._window)

    def _forget(self, changes: Sequence[Change]) -> None:
        """Hears of the changes that compaction has dropped."""

    def contents(self) -> Contents:
        """See `Storage`."""
        base: list[Record] = []
        for name, kept in self._collections.items():
            base += self._as_of(name, kept.records, self._compacted).values()
        base.sort(key=_revision_of)
        return Contents(self.durable, self._compacted, base, self._history[: self.durable - self._compacted])

    def _fill(self, contents: Contents) -> None:
        for record in contents.base:
            self._collection(record.collection).records[record.key] = record
        for change in contents.changes:
            kept = self._collection(change.collection)
            if change.deleted:
                del kept.records[change.record.key]
            else:
                kept.records[change.record.key] = change.record
        for kept in self._collections.values():
            kept.keys = sorted(kept.records)
            kept.last_change = contents.revision
        self._history = list(contents.changes)
        self._compacted, self._revision = contents.compacted, contents.revision

    # listeners

    def subscribe(self, listener: Listener) -> Unsubscribe:
        """See `Storage`."""
        self._listeners = (*self._listeners, listener)

        def unsubscribe() -> None:
            self._listeners = _without(self._listeners, listener)

        return unsubscribe

    def subscribe_durable(self, listener: Listener) -> Unsubscribe:
        """See `Storage`."""
        self._durable_listeners = (*self._durable_listeners, listener)

        def unsubscribe() -> None:
            self._durable_listeners = _without(self._durable_listeners, listener)

        return unsubscribe


def _without(listeners: tuple[Listener, ...], gone: Callable[[Change], None]) -> tuple[Listener, ...]:
    return tuple(kept for kept in listeners if kept is not gone)


def _revision_of(record: Record) -> int:
    return record.revision


def _after(prefix: str) -> str:
    """The first string after all that begin with the prefix, which ends with `/`."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)
