"""What the specification of a claim for a volume must obey, on its own or in a template.

https://kubernetes.io/docs/concepts/storage/persistent-volumes/#persistentvolumeclaims
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from setpoint.cluster.server import names
from setpoint.cluster.server.schema.causes import FieldError, forbidden, invalid, not_supported, required
from setpoint.objects import Quantity

from .label_selectors import selector_problems

Json = Mapping[str, Any]

ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES = ("Block", "Filesystem")


def may_not_grow(new: Json, old: Json, classes: Callable[[], Iterable[Json]]) -> str:
    """Why a claim may not ask for more storage than it did, or nothing. `classes` gives the storage classes."""
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    if storage(spec) <= storage(before):
        return ""
    if (old.get("status") or {}).get("phase") != "Bound":
        return "Only bound persistent volume claims can be expanded"
    name = spec.get("storageClassName")
    if name and name == before.get("storageClassName"):
        for each in classes():
            if each["metadata"]["name"] == name and each.get("allowVolumeExpansion"):
                return ""
    return "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"


def storage(spec: Json) -> Quantity:
    """How much storage a claim asks for."""
    return Quantity(((spec.get("resources") or {}).get("requests") or {}).get("storage", "0"))


def validate_claim_spec(spec: Json, at: str) -> Iterator[FieldError]:
    """What is wrong with a claim's ``spec`` at the path ``at``."""
    if not spec.get("accessModes"):
        yield required(f"{at}.accessModes", "at least 1 access mode is required")
    yield from selector_problems(spec.get("selector") or {}, f"{at}.selector")
    yield from access_modes(spec, at)
    storage = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if storage is None:
        yield required(f"{at}.resources[storage]")
    elif Quantity(storage) <= 0:
        yield invalid(f"{at}.resources[storage]", storage, "must be greater than zero")
    yield from class_name(spec, "storageClassName", at)
    yield from volume_mode(spec, at)
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is not None:
        yield from _source(source, f"{at}.dataSource")
    if reference is not None:
        yield from _source(reference, f"{at}.dataSourceRef")
        if namespace := reference.get("namespace"):
            yield from (invalid(f"{at}.dataSourceRef.namespace", namespace, problem) for problem in names.dns_label(namespace))
    if source is not None and reference is not None:
        if reference.get("namespace"):
            yield _source_conflict(at, "may not be specified when dataSourceRef.namespace is specified")
        elif any((source.get(key) or "") != (reference.get(key) or "") for key in ("apiGroup", "kind", "name")):
            yield _source_conflict(at, "must match dataSourceRef")
    yield from class_name(spec, "volumeAttributesClassName", at)


def access_modes(spec: Json, at: str) -> Iterator[FieldError]:
    """What is wrong with the modes that are there."""
    modes = spec.get("accessModes") or []
    yield from (not_supported(f"{at}.accessModes", mode, ACCESS_MODES) for mode in modes if mode not in ACCESS_MODES)
    if "ReadWriteOncePod" in modes and any(mode in ACCESS_MODES[:-1] for mode in modes):
        yield forbidden(f"{at}.accessModes", "may not use ReadWriteOncePod with other access modes")


def class_name(spec: Json, field: str, at: str) -> Iterator[FieldError]:
    """What is wrong with the name of a class, if there is one."""
    if name := spec.get(field):
        yield from (invalid(f"{at}.{field}", name, problem) for problem in names.dns_subdomain(name))


def volume_mode(spec: Json, at: str) -> Iterator[FieldError]:
    """What is wrong with the mode of a volume, if there is one."""
    mode = spec.get("volumeMode")
    if mode is not None and mode not in VOLUME_MODES:
        yield not_supported(f"{at}.volumeMode", mode, VOLUME_MODES)


def _source(source: Json, at: str) -> Iterator[FieldError]:
    kind, group = source.get("kind", ""), source.get("apiGroup") or ""
    if not source.get("name"):
        yield required(f"{at}.name")
    if not kind:
        yield required(f"{at}.kind")
    if not group and kind != "PersistentVolumeClaim":
        yield invalid(at, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup")
    if group:
        yield from (invalid(f"{at}.apiGroup", group, problem) for problem in names.dns_subdomain(group))


def _source_conflict(at: str, detail: str) -> FieldError:
    # The server prints a path where it means a value.
    return invalid(at, {}, detail)
