"""Which fields a change is about, bookkeeping of the server aside."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import msgspec

from setpoint.levelcheck.oracles.masks import at, items

_BOOKKEEPING = (".metadata.resourceVersion", ".metadata.managedFields", ".metadata.generation")


class Moved(msgspec.Struct, frozen=True):
    """A field and its values before and after; None where it was, or is, absent."""

    field: str
    before: Any
    after: Any


@lru_cache(maxsize=4096)
def moved(before: bytes | None, after: bytes) -> tuple[Moved, ...]:
    """The fields that are otherwise, scalars and whole lists of scalars each by itself."""
    one = msgspec.json.decode(before) if before is not None else {}
    return tuple(each for each in _moved("", one, msgspec.json.decode(after)) if not each.field.startswith(_BOOKKEEPING))


def _moved(path: str, before: Any, after: Any) -> Iterator[Moved]:
    if before == after and isinstance(before, bool) == isinstance(after, bool):
        return
    before_is, after_is = isinstance(before, dict), isinstance(after, dict)
    if (before_is and (after_is or after is None)) or (after_is and before is None):
        # A map that was not there is told by what is in it.
        before, after = before or {}, after or {}
        if not before and not after:
            yield Moved(path, None, {})
        for key in sorted({**before, **after}):
            yield from _moved(at(path, key), before.get(key), after.get(key))
    elif _are_maps(before) and _are_maps(after):
        one, other = items(path, before), items(path, after)
        for here in {**one, **other}:
            yield from _moved(here, one.get(here), other.get(here))
    else:
        yield Moved(path, before, after)


def _are_maps(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)
