"""The base: one kind's objects exactly as they were on the server at one version.

It goes forward only. Each step gives the `Change`s that it made, which are all that predicates, mappers and queues ever see.
"""

from __future__ import annotations

from collections.abc import Iterator

from setpoint.cache.entry import Change, Entry, Version, is_older
from setpoint.cache.states import Found
from setpoint.objects import Request


class Store:
    """Key to entry, and the version that all of them together stand for; `version` is None until the first complete list."""

    __slots__ = ("_entries", "size", "version")

    def __init__(self) -> None:
        self._entries: dict[Request, Entry] = {}
        self.size: int = 0
        """The bytes that are kept of all objects together, without what Python needs beside it (some 470 bytes an object)."""
        self.version: Version | None = None

    @property
    def has_synced(self) -> bool:
        """Whether it has ever been complete."""
        return self.version is not None

    def get(self, key: Request) -> Entry | None:
        """The object's entry, or None."""
        return self._entries.get(key)

    def __iter__(self) -> Iterator[Request]:
        """Every key, in the order in which they came."""
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def has_reached(self, version: int) -> bool:
        """Whether everything up to that version is in it."""
        return isinstance(self.version, int) and self.version >= version

    def put(self, key: Request, entry: Entry) -> list[Change]:
        """The object is like this, at the entry's version."""
        self.advance(entry.version)
        old = self._entries.get(key)
        self._entries[key] = entry
        self.size += len(entry.kept) - (0 if old is None else len(old.kept))
        return changes(key, old, entry)

    def remove(self, key: Request, version: Version) -> list[Change]:
        """The object is gone, at that version."""
        self.advance(version)
        old = self._entries.pop(key, None)
        self.size -= 0 if old is None else len(old.kept)
        return changes(key, old, None)

    def clear(self) -> list[Change]:
        """Nothing is held any more, which is no deletion: every object has left."""
        before, self._entries, self.size = self._entries, {}, 0
        return [Change(key, old, None, left=True) for key, old in before.items()]

    def advance(self, version: Version) -> None:
        """Nothing more happened up to that version. Raises `ValueError` for a version that is behind."""
        if is_older(version, self.version):
            raise ValueError(f"the base is at version {self.version} and never goes back to {version}")
        self.version = version

    def replace(self, found: Found, version: Version, *, anew: bool = False) -> list[Change]:
        """The whole collection as it is at that version. What is not in it is gone; what it has at the version known is no change.

        `anew` says that the server's history is another one, so that versions do not compare with those before.
        """
        if anew:
            self.version = version
        initial = not self.has_synced
        self.advance(version)
        before, self._entries = self._entries, found
        self.size = sum(len(entry.kept) for entry in found.values())
        made = [change for key, old in before.items() if key not in found for change in changes(key, old, None)]
        for key, entry in found.items():
            old = before.get(key)
            if old is None:
                made.append(Change(key, None, entry, initial))
            elif not old.is_same(entry):
                made += changes(key, old, entry)
        return made


def changes(key: Request, old: Entry | None, new: Entry | None) -> list[Change]:
    """What has changed for a key between two entries: nothing, one change, or a deletion and a creation where they are two objects."""
    if old is None:
        return [] if new is None else [Change(key, None, new)]
    if new is None:
        return [Change(key, old, None)]
    if old.uid != new.uid:
        return [Change(key, old, None), Change(key, None, new)]
    return [] if old.is_same(new) else [Change(key, old, new)]
