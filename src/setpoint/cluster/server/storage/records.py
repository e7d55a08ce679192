"""What storage is about: objects at revisions, the changes between them, and what can be wrong with a question or a write."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Head(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What is known of a value without decoding it: labels, and the values of the fields that can be selected by."""

    labels: Mapping[str, str] = {}
    fields: Mapping[str, str] = {}
    bare: bool = False
    """Whether the value is to get its defaults when it is read, since it was stored without them."""


class Record(msgspec.Struct, frozen=True, gc=False):
    """One object at one revision. `key` is `namespace/name`, or `name` for a kind without namespaces."""

    collection: str
    key: str
    value: bytes
    revision: int
    head: Head = Head()


class Change(msgspec.Struct, frozen=True, gc=False):
    """What one revision did. `record` is the state after it; where `deleted` it is the last state, under the revision of the deletion.

    `undone` says that this takes back a change that could not be made durable: nobody outside the server has seen that one.
    """

    record: Record
    previous: Record | None = None
    deleted: bool = False
    undone: bool = False

    @property
    def revision(self) -> int:
        """The revision that this change made."""
        return self.record.revision

    @property
    def collection(self) -> str:
        """Where it happened."""
        return self.record.collection

    def reversed(self) -> Change:
        """What takes it back."""
        if self.previous is None:
            return Change(self.record, self.record, deleted=True, undone=True)
        return Change(self.previous, None if self.deleted else self.record, undone=True)


class Page(msgspec.Struct, frozen=True):
    """Part of a collection, in the order of keys. `remaining` counts what comes after it; it is exact."""

    records: list[Record]
    remaining: int


class Contents(msgspec.Struct, frozen=True):
    """All that a storage holds at one moment, in the order of revisions: how things were at `compacted`, and each change after that."""

    revision: int
    compacted: int
    base: list[Record]
    changes: list[Change]


class Compacted(Exception):
    """The revision asked for is older than the history. `oldest` is the oldest that can still be asked for."""

    def __init__(self, asked: int, oldest: int) -> None:
        super().__init__(asked, oldest)
        self.asked = asked
        self.oldest = oldest


class Moved(Exception):
    """A write expected the object, or the storage, at another revision than it is at."""


class NotDurable(Exception):
    """Changes could not be made durable and are undone. The text says where, why, and what to do about it."""


class DataFault(Exception):
    """What is to be read cannot be, or must not be touched: a data folder or a snapshot. Nothing has been changed.

    The text says which one, what is wrong with it, and what to do about it.
    """
