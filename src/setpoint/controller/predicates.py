"""Predicates that most controllers can use as they are, each about change unless it says otherwise.

`Controller(WebApp, predicate=generation_changed)` does not run for its own status writes. Creation and deletion always pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from setpoint.api import LabelSelector
from setpoint.objects import Object

from .predicate import Predicate, matching

K = TypeVar("K", bound=Object)


def changed(part: Callable[[K], Any], /) -> Predicate[K]:
    """A part of the object differs, as Python compares it."""

    def differs(old: K | None, new: K | None) -> bool:
        return old is None or new is None or part(old) != part(new)

    return Predicate(differs)


generation_changed: Predicate[Any] = Predicate(
    lambda old, new: (
        old is None
        or new is None
        or old.metadata.generation != new.metadata.generation
        # A kind without generation (ConfigMap, Secret, ...) would never pass otherwise.
        or new.metadata.generation is None
        # Not every server counts up the generation when an object begins to terminate.
        or old.is_terminating != new.is_terminating
    )
)
"""The spec changed, or the object began to terminate. A kind whose objects have no generation always passes."""

labels_changed: Predicate[Any] = changed(lambda obj: obj.metadata.labels)
"""Some label changed."""

annotations_changed: Predicate[Any] = changed(lambda obj: obj.metadata.annotations)
"""Some annotation changed."""

finalizers_changed: Predicate[Any] = changed(lambda obj: obj.metadata.finalizers)
"""Some finalizer was added or removed."""

version_changed: Predicate[Any] = changed(lambda obj: obj.metadata.resource_version)
"""Anything changed. A resync, which tells the same state again, does not pass."""


def labelled(labels: str | Mapping[str, str]) -> Predicate[Any]:
    """About state: the object's labels match a selector. Prefer `labels=` of a controller or watch, which leaves the rest on the server."""
    selector = LabelSelector.parse(labels)
    return matching(lambda obj: selector.matches(obj.metadata.labels))


__all__ = [
    "annotations_changed",
    "changed",
    "finalizers_changed",
    "generation_changed",
    "labelled",
    "labels_changed",
    "matching",
    "version_changed",
]
