"""Who owns the replicas of an object, as seen from its `scale` subresource and back.

A Scale has managedFields of its own kind: whoever owns the replicas of the object owns `spec.replicas` of the Scale. They are worked out
for each write, and what became of them is put back among the object's own. The real server hides them from clients.

Two things there are odd, and are so here. An updater whose replicas nobody took is known by another name after the way there and back, so
that its entry is split in two (and the next reader of the two keeps one). And an owner that is new has no time.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .entries import Entry, Manager, decode, encode_all
from .fieldset import FieldSet

__all__ = ["SCALE_VERSION", "in_parent", "in_scale"]

SCALE_VERSION = "autoscaling/v1"
_IN_SCALE = ("f:spec", "f:replicas")

Paths = Mapping[str, Sequence[str] | None]
"""Where each version of a kind has its replicas; None where it has no scale."""


def in_scale(managed: Any, paths: Paths) -> list[dict[str, Any]]:
    """The managedFields of the Scale of an object with these. Raises ValueError if they cannot be read."""
    owners: list[tuple[Manager, Entry]] = []
    for manager, entry in decode(managed or []).items():
        if _owns(entry, paths.get(entry.api_version)):
            owners.append((manager, Entry(SCALE_VERSION, FieldSet.of(_IN_SCALE), entry.time)))
    return encode_all(owners)


def in_parent(managed: Any, scale: Any, paths: Paths, api_version: str) -> list[dict[str, Any]]:
    """The managedFields of an object after those of its Scale have become these. Raises ValueError if they cannot be read.

    `api_version` is that in which the object was asked for; entries of versions that are no more are dropped.
    """
    before, left = decode(managed or []), decode(scale or [])
    after: list[tuple[Manager, Entry]] = []
    for manager, entry in before.items():
        if entry.api_version not in paths:
            continue
        path = paths[entry.api_version]
        if path is None or not _owns(entry, path) or left.pop(manager, None) is not None:
            after.append((manager, entry))
        elif fields := entry.fields.difference(FieldSet.of(_elements(path))):
            after.append((manager, entry.owning(fields)))
    path = paths[api_version] or ()
    for manager, entry in left.items():
        if _IN_SCALE in entry.fields:
            time = before[manager].time if manager in before else None
            after.append((manager, Entry(api_version, FieldSet.of(_elements(path)), time)))
    return encode_all(after)


def _owns(entry: Entry, path: Sequence[str] | None) -> bool:
    return path is not None and tuple(_elements(path)) in entry.fields


def _elements(path: Iterable[str]) -> list[str]:
    return ["f:" + name for name in path]
