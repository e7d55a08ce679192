"""Owners of other versions than the one that is written: the object must make sense in theirs, too.

The versions of a kind may differ in their schemas. What its owners have is judged in the version in which they wrote: an object that does
not fit there (in a set, nothing may be there twice), or a version that is no more, stops an apply, and leaves ownership as it was in all
other writes.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .atoms import TypedSchema
from .entries import Entries
from .validate import validate

__all__ = ["Inconvertible", "Versions", "check_live", "check_merged", "others"]

Versions = Mapping[str, Callable[[], TypedSchema]]
"""The schemas of all versions of a kind, by apiVersion. Empty where versions differ in nothing."""


class Inconvertible(ValueError):
    """The object is nothing in a version that an owner wrote in; the text is the real server's."""


def others(entries: Entries, versions: Versions, api_version: str) -> list[str]:
    """The versions of owners that differ from the one that is written, in order. Raises Inconvertible if one of them is no more."""
    if not versions:
        return []
    found = sorted({entry.api_version: None for entry in entries.values() if entry.api_version != api_version})
    for version in found:
        if version not in versions:
            raise Inconvertible(f"request to convert CR to an invalid group/version: {version}")
    return found


def check_live(live: Any, found: Iterable[str], versions: Versions) -> None:
    """Raises Inconvertible if the live object does not fit one of the versions."""
    _check(live, found, versions, "")


def check_merged(merged: Any, found: Iterable[str], versions: Versions, *, last: str) -> None:
    """The same for what an apply has made of it; `last` is the version in which its owner applied before: something may have to go."""
    found = list(found)
    if last in found:
        _check(merged, [last], versions, "failed to prune fields: failed to convert merged object to last applied version: ")
    before = "failed to prune fields: failed add back owned items: failed to convert merged object at version {}: "
    _check(merged, found, versions, before if last else "failed to convert new object: ")


def _check(thing: Any, found: Iterable[str], versions: Versions, before: str) -> None:
    for version in found:
        problems = validate(versions[version]().root, thing)
        if problems:
            raise Inconvertible(before.format(version) + problems[0])
