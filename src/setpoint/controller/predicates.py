"""Predicates that most controllers can use as they are, each about change unless it says otherwise.

`Controller(WebApp, predicate=generation_changed)` does not run for its own status writes. Creation, deletion and the first sight after a
start pass each of those about change, also under `~`: see `predicate` for why. They combine by `&`, `|` and `~`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from setpoint.api import LabelSelector
from setpoint.objects import Object, Untyped
from setpoint.objects.shape import attributes_of

from .field_paths import FieldPath
from .predicate import Predicate, Vote, comparing, matching

K = TypeVar("K", bound=Object)


def changed(part: Callable[[K], Any], /) -> Predicate[K]:
    """A part of the object differs, as Python compares it."""
    return comparing(lambda old, new: bool(part(old) != part(new)))


def field_changed(*paths: str) -> Predicate[Any]:
    """One of these fields differs: ``field_changed("spec.replicas", "spec.rules[*].host")``, named as in Python or as on the wire.

    A controller or watch that is given it raises `ValueError` if its kind has no such field. Raises `ValueError` for what is no path.
    """
    if not paths:
        raise ValueError('field_changed takes at least one path, such as "spec.replicas"')
    fields = [FieldPath(path) for path in paths]
    return comparing(
        lambda old, new: any(field.of(old) != field.of(new) for field in fields),
        *(field.check for field in fields),
    )


def _generation(old: Object, new: Object) -> Vote:
    before, after = old.metadata, new.metadata
    # Not every server counts up the generation when an object begins to terminate, and none does for a finalizer.
    if old.is_terminating != new.is_terminating or before.finalizers != after.finalizers:
        return True
    # A kind without generation (ConfigMap, Secret, ...) would never pass otherwise.
    return None if after.generation is None else before.generation != after.generation


generation_changed: Predicate[Any] = comparing(_generation)
"""The spec changed, a finalizer was added or removed, or the object began to terminate. A kind whose objects have no generation passes."""

labels_changed: Predicate[Any] = changed(lambda obj: obj.metadata.labels)
"""Some label changed."""

annotations_changed: Predicate[Any] = changed(lambda obj: obj.metadata.annotations)
"""Some annotation changed."""

finalizers_changed: Predicate[Any] = changed(lambda obj: obj.metadata.finalizers)
"""Some finalizer was added or removed."""

version_changed: Predicate[Any] = changed(lambda obj: obj.metadata.resource_version)
"""Anything changed, that is, the resourceVersion."""

_KEPT_BY_THE_SERVER = ("resource_version", "managed_fields", "generation")


def _without_status(obj: Object) -> Any:
    metadata = [
        getattr(obj.metadata, field.name) for field in attributes_of(type(obj.metadata)).values() if field.name not in _KEPT_BY_THE_SERVER
    ]
    if isinstance(obj, Untyped):
        rest: Any = {name: value for name, value in obj.content.items() if name not in ("metadata", "status")}
    else:
        rest = [getattr(obj, field.name) for field in attributes_of(type(obj)).values() if field.name not in ("metadata", "status")]
    return metadata, rest


ignoring_status: Predicate[Any] = changed(_without_status)
"""Something beside the status changed: spec, data, labels, annotations, owners, finalizers, ... What only the server keeps
(resourceVersion, managedFields, generation) is not looked at. Unlike `generation_changed` it tells the status apart also where a kind has
no generation, and passes changes of labels and annotations."""


def labelled(labels: str | Mapping[str, str]) -> Predicate[Any]:
    """About state: the object's labels match a selector. Prefer `labels=` of a controller or watch, which leaves the rest on the server."""
    selector = LabelSelector.parse(labels)
    return matching(lambda obj: selector.matches(obj.metadata.labels))


__all__ = [
    "annotations_changed",
    "changed",
    "comparing",
    "field_changed",
    "finalizers_changed",
    "generation_changed",
    "ignoring_status",
    "labelled",
    "labels_changed",
    "matching",
    "version_changed",
]
