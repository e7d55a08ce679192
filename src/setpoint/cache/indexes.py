"""Lookups over the view: which keys have a certain value, without looking at every object.

A lookup is built when it is first asked for, and kept up from then on; what nobody asks for costs nothing at a sync.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from setpoint.cache.entry import Entry
from setpoint.objects import Request
from setpoint.objects.codec import decode, decode_meta
from setpoint.objects.indexes import Index

Values: TypeAlias = Callable[[Request, bytes], Iterable[str]]
"""What an object, given by key and bytes, is to be found under."""


def by_namespace(key: Request, data: bytes) -> tuple[str, ...]:
    """Under its namespace."""
    return (key.namespace,)


def by_owner(key: Request, data: bytes) -> tuple[str, ...]:
    """Under the UID of the owner that controls it."""
    owner = decode_meta(data).controller
    return () if owner is None else (owner.uid,)


def by_index(index: Index[Any]) -> Values:
    """Under what a declared index gives for the object, which is decoded for it."""

    def values(key: Request, data: bytes) -> Iterable[str]:
        return index.values_of(decode(index.kind, data))

    return values


class Lookup:
    """From value to keys, and back, so that an object can move without being read as it was.

    An object for which `values_of` raises is under nothing; `report` is told.
    """

    __slots__ = ("_keys", "_report", "_values", "_values_of")

    def __init__(self, values_of: Values, report: Callable[[Request, Exception], None]) -> None:
        self._values_of = values_of
        self._report = report
        self._keys: dict[str, dict[Request, None]] = {}
        self._values: dict[Request, tuple[str, ...]] = {}

    def keys(self, value: str) -> list[Request]:
        """The keys under a value, in the order in which they came there."""
        return list(self._keys.get(value, ()))

    def holds(self, value: str, key: Request) -> bool:
        """Whether the key is under that value."""
        return key in self._keys.get(value, ())

    def set(self, key: Request, entry: Entry | None) -> None:
        """The object is like this now, or gone."""
        before = self._values.get(key, ())
        after = () if entry is None else self._values_for(key, entry)
        if before == after:
            return
        for value in before:
            if value not in after:
                bucket = self._keys[value]
                del bucket[key]
                if not bucket:
                    del self._keys[value]
        for value in after:
            if value not in before:
                self._keys.setdefault(value, {})[key] = None
        if after:
            self._values[key] = after
        else:
            del self._values[key]

    def _values_for(self, key: Request, entry: Entry) -> tuple[str, ...]:
        try:
            return tuple(dict.fromkeys(self._values_of(key, entry.data)))
        except Exception as error:
            self._report(key, error)
            return ()
