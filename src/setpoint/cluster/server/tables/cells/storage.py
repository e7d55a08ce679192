"""Volumes, claims for them, their classes and their drivers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from setpoint.cluster.server.tables.cells.parts import NONE, UNSET, Cells, created, name_of, part
from setpoint.cluster.server.tables.tables import Object, age

_CLASS = "volume.beta.kubernetes.io/storage-class"
_MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}
_DEFAULT_CLASS = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")


def _volume(obj: Object, now: datetime) -> list[Any]:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    claim = spec.get("claimRef")
    return [
        name_of(obj),
        part(spec, "capacity", "storage") or "0",
        _modes(spec.get("accessModes") or ()),
        spec.get("persistentVolumeReclaimPolicy") or "",
        _phase(obj),
        "" if claim is None else f"{claim.get('namespace') or ''}/{claim.get('name') or ''}",
        _class(obj),
        _attributes(spec),
        status.get("reason") or "",
        age(obj, now),
        spec.get("volumeMode") or UNSET,
    ]


def _claim(obj: Object, now: datetime) -> list[Any]:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    volume, capacity, modes = spec.get("volumeName") or "", "", ""
    if volume:
        capacity, modes = part(status, "capacity", "storage") or "0", _modes(status.get("accessModes") or ())
    shown = [_phase(obj), volume, capacity, modes, _class(obj), _attributes(spec)]
    return [name_of(obj), *shown, age(obj, now), spec.get("volumeMode") or UNSET]


def _phase(obj: Object) -> str:
    if obj["metadata"].get("deletionTimestamp"):
        return "Terminating"
    phase: str = part(obj, "status", "phase") or ""
    return phase


def _modes(modes: Sequence[str]) -> str:
    return ",".join(short for mode, short in _MODES.items() if mode in modes)


def _class(obj: Object) -> str:
    old: str | None = part(obj, "metadata", "annotations", _CLASS)
    return old if old is not None else part(obj, "spec", "storageClassName") or ""


def _attributes(spec: Any) -> str:
    named_class: str | None = spec.get("volumeAttributesClassName")
    return UNSET if named_class is None else named_class


def _storage_class(obj: Object, now: datetime) -> list[Any]:
    annotations = obj["metadata"].get("annotations") or {}
    default = any(annotations.get(key) == "true" for key in _DEFAULT_CLASS)
    return [
        f"{name_of(obj)} (default)" if default else name_of(obj),
        obj.get("provisioner") or "",
        obj.get("reclaimPolicy") or "Delete",
        obj.get("volumeBindingMode") or "Immediate",
        bool(obj.get("allowVolumeExpansion")),
        age(obj, now),
    ]


def _attributes_class(obj: Object, now: datetime) -> list[Any]:
    return [name_of(obj), obj.get("driverName") or "", age(obj, now)]


def _attachment(obj: Object, now: datetime) -> list[Any]:
    spec = obj.get("spec") or {}
    volume, node = part(spec, "source", "persistentVolumeName") or "", spec.get("nodeName") or ""
    return [name_of(obj), spec.get("attacher") or "", volume, node, bool(part(obj, "status", "attached")), age(obj, now)]


def _driver(obj: Object, now: datetime) -> list[Any]:
    spec = obj.get("spec") or {}
    return [
        name_of(obj),
        spec.get("attachRequired") is not False,
        bool(spec.get("podInfoOnMount")),
        bool(spec.get("storageCapacity")),
        ",".join(request.get("audience") or "" for request in spec.get("tokenRequests") or ()) or UNSET,
        bool(spec.get("requiresRepublish")),
        ",".join(spec.get("volumeLifecycleModes") or ()) or NONE,
        age(obj, now),
    ]


def _node_drivers(obj: Object, now: datetime) -> list[Any]:
    return [name_of(obj), len(part(obj, "spec", "drivers") or ()), age(obj, now)]


CELLS: dict[tuple[str, str], Cells] = {
    ("", "persistentvolumes"): _volume,
    ("", "persistentvolumeclaims"): _claim,
    ("storage.k8s.io", "storageclasses"): _storage_class,
    ("storage.k8s.io", "volumeattributesclasses"): _attributes_class,
    ("storage.k8s.io", "volumeattachments"): _attachment,
    ("storage.k8s.io", "csidrivers"): _driver,
    ("storage.k8s.io", "csinodes"): _node_drivers,
    ("storage.k8s.io", "csistoragecapacities"): created,
}
