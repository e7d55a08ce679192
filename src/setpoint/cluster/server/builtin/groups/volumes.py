"""PersistentVolumeClaims and PersistentVolumes: defaults, what must hold of both, and how little of either may change.

https://kubernetes.io/docs/concepts/storage/persistent-volumes/
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from setpoint.cluster.server.builtin.behaviour import Behaviour, Json, Object
from setpoint.cluster.server.builtin.claims import access_modes, class_name, storage, validate_claim_spec, volume_mode
from setpoint.cluster.server.builtin.defaults import default_claim_spec
from setpoint.cluster.server.builtin.equality import same
from setpoint.cluster.server.builtin.immutable import unchanged
from setpoint.cluster.server.builtin.node_selectors import node_selector_problems
from setpoint.cluster.server.builtin.pod_warnings import fractional_bytes
from setpoint.cluster.server.builtin.volume_sources import validate_persistent_source
from setpoint.cluster.server.schema.causes import FieldError, forbidden, invalid, not_supported, required
from setpoint.cluster.server.schema.gotext import as_json
from setpoint.objects import Quantity

_CLAIM_IN_USE, _VOLUME_IN_USE = "kubernetes.io/pvc-protection", "kubernetes.io/pv-protection"
_KNOWN_SOURCES = (("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot"))
_MAY_GROW = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
_RESIZING = (
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
)
_RECLAIM = ("Delete", "Recycle", "Retain")
_NO_SOURCE = (
    "accessModes",
    "capacity",
    "claimRef",
    "mountOptions",
    "nodeAffinity",
    "persistentVolumeReclaimPolicy",
    "storageClassName",
    "volumeAttributesClassName",
    "volumeMode",
)
"""What of a volume's spec is not where it comes from."""


def protect(obj: Json, finalizer: str) -> None:
    """The finalizer that the cluster holds something by while it is in use."""
    metadata = obj["metadata"]
    finalizers = metadata.get("finalizers") or []
    if finalizer not in finalizers:
        obj["metadata"] = {**metadata, "finalizers": [*finalizers, finalizer]}


# --------------------------------------------------------------------------------------------------------------- claims


def default_claim(obj: Json) -> None:
    """A claim with its defaults."""
    obj.setdefault("status", {}).setdefault("phase", "Pending")
    default_claim_spec(obj.get("spec"))


def prepare_claim(obj: Json) -> None:
    """A new claim waits for a volume. That is a default: what is stored does not say it (`fills_status`)."""
    obj["status"] = {}
    obj["spec"] = _with_sources(_without_unknown(obj["spec"]))
    protect(obj, _CLAIM_IN_USE)


def prepare_claim_update(new: Json, old: Object, subresource: str) -> None:
    """Both ways of naming a source stay in step."""
    if subresource == "":
        spec = new["spec"]
        new["spec"] = _with_sources(spec if (old.get("spec") or {}).get("dataSource") else _without_unknown(spec))


def _without_unknown(spec: Json) -> Json:
    """Without what this version of the cluster takes no data from."""
    spec = dict(spec)
    if (spec.get("dataSourceRef") or {}).get("namespace"):
        del spec["dataSourceRef"]
    source = spec.get("dataSource")
    if source is not None and "dataSourceRef" not in spec and (source.get("apiGroup") or "", source.get("kind")) not in _KNOWN_SOURCES:
        del spec["dataSource"]
    return spec


def _with_sources(spec: Json) -> Json:
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is not None and reference is None:
        return {**spec, "dataSourceRef": dict(source)}
    if reference is not None and source is None and not reference.get("namespace"):
        return {**spec, "dataSource": {key: value for key, value in reference.items() if key != "namespace"}}
    return spec


def validate_claim(new: Object, old: Object | None) -> Iterator[FieldError]:
    """What is wrong with a claim, or with its change."""
    spec = new.get("spec") or {}
    yield from validate_claim_spec(spec, "spec")
    if old is None:
        return
    before, bound = _with_sources(dict(old.get("spec") or {})), (new.get("status") or {}).get("phase") == "Bound"
    if not same(_fixed(spec, before, bound), _fixed(before, before, bound)):
        yield forbidden("spec", _MAY_GROW)
    size, was = storage(spec), storage(before)
    if size < was and size <= Quantity(((old.get("status") or {}).get("capacity") or {}).get("storage", "0")):
        yield forbidden("spec.resources.requests.storage", "field can not be less than status.capacity")
    yield from unchanged(spec, before, ("volumeMode",), at="")
    used = (old.get("status") or {}).get("currentVolumeAttributesClassName")
    if used is not None and spec.get("volumeAttributesClassName") != before.get("volumeAttributesClassName"):
        wanted = spec.get("volumeAttributesClassName")
        if not wanted:
            what = "nil" if wanted is None else "empty string"
            detail = f"update to {what} is forbidden when status.currentVolumeAttributesClassName is not nil"
            yield forbidden("spec.volumeAttributesClassName", detail)


def _fixed(spec: Object, before: Object, bound: bool) -> Json:
    """What of a spec may not change: a volume or a class may be named once, and a bound claim may grow."""
    fixed = dict(spec)
    for name in ("volumeName", "storageClassName"):
        if not before.get(name) and (name == "volumeName" or (before.get(name) is None and fixed.get(name) is not None)):
            fixed.pop(name, None)
    if bound:
        fixed.pop("volumeAttributesClassName", None)
        resources = fixed.get("resources") or {}
        requests = {key: value for key, value in (resources.get("requests") or {}).items() if key != "storage"}
        fixed["resources"] = {**resources, "requests": requests}
    return fixed


def validate_claim_status(new: Object, old: Object) -> Iterator[FieldError]:
    """What is wrong with the status of a claim."""
    status = new.get("status") or {}
    for name, amount in (status.get("capacity") or {}).items():
        yield from _basic(amount, f"status.capacity[{name}]")
    at = "status.allocatedResourceStatuses"
    for name, state in (status.get("allocatedResourceStatuses") or {}).items():
        yield from _only_storage(name, at)
        if state not in _RESIZING:
            yield not_supported(at, name, _RESIZING)
    for name, amount in (status.get("allocatedResources") or {}).items():
        problems = list(_only_storage(name, "status.allocatedResources"))
        yield from problems or _basic(amount, f"status.allocatedResources[{name}]")


def _only_storage(name: str, at: str) -> Iterator[FieldError]:
    if name != "storage" and ("/" not in name or "kubernetes.io/" in name):
        yield not_supported(at, name, ("storage",))


def _basic(amount: str, at: str) -> Iterator[FieldError]:
    if Quantity(amount) < 0:
        yield FieldError(
            "FieldValueInvalid", f"Invalid value: {-int(-Quantity(amount).amount // 1)}: must be a valid resource quantity", at
        )


def _claim_warnings(new: Object, old: Object | None) -> Iterator[str]:
    requests = (new["spec"].get("resources") or {}).get("requests") or {}
    yield from fractional_bytes(requests, "spec.resources.requests", ("storage",))


# -------------------------------------------------------------------------------------------------------------- volumes


def default_volume(obj: Json) -> None:
    """A volume with its defaults."""
    obj.setdefault("status", {}).setdefault("phase", "Pending")
    spec = obj["spec"]
    spec.setdefault("persistentVolumeReclaimPolicy", "Retain")
    spec.setdefault("volumeMode", "Filesystem")
    host_path = spec.get("hostPath")
    if host_path is not None:
        host_path.setdefault("type", "")


def prepare_volume(obj: Json) -> None:
    """A new volume is pending since now."""
    obj["status"] = {"phase": "Pending", "lastPhaseTransitionTime": obj["metadata"]["creationTimestamp"]}
    protect(obj, _VOLUME_IN_USE)


def settle_volume(new: Json, old: Object | None, now: str) -> None:
    """Notes when its phase changes."""
    status, before = new.get("status") or {}, (old or {}).get("status") or {}
    if old is None:
        return
    noted, was = status.get("lastPhaseTransitionTime"), before.get("lastPhaseTransitionTime")
    if status.get("phase") == before.get("phase"):
        if noted is None and was is not None:
            new["status"] = {**status, "lastPhaseTransitionTime": was}
    elif noted is None or noted == was:
        new["status"] = {**status, "lastPhaseTransitionTime": now}


def validate_volume(new: Object, old: Object | None) -> Iterator[FieldError]:
    """What is wrong with a volume, or with its change."""
    spec = new.get("spec") or {}
    yield from _volume_spec(spec)
    if old is not None:
        yield from _volume_update(spec, old.get("spec") or {})


def _volume_spec(spec: Object) -> Iterator[FieldError]:
    if not spec.get("accessModes"):
        yield required("spec.accessModes")
    yield from access_modes(spec, "spec")
    yield from _capacity(spec.get("capacity") or {})
    policy = spec.get("persistentVolumeReclaimPolicy")
    if policy not in _RECLAIM:
        yield not_supported("spec.persistentVolumeReclaimPolicy", policy, _RECLAIM)
    affinity = spec.get("nodeAffinity")
    if affinity is not None:
        if affinity.get("required") is None:
            yield required("spec.nodeAffinity.required", "must specify required node constraints")
        else:
            yield from node_selector_problems(affinity["required"], "spec.nodeAffinity.required")
    yield from validate_persistent_source(_source(spec), "spec")
    if "local" in spec and affinity is None:
        yield required("spec.nodeAffinity", "Local volume requires node affinity")
    path = (spec.get("hostPath") or {}).get("path", "")
    if path and not path.strip("/") and policy == "Recycle":
        yield forbidden("spec.persistentVolumeReclaimPolicy", "may not be 'recycle' for a hostPath mount of '/'")
    yield from class_name(spec, "storageClassName", "spec")
    yield from volume_mode(spec, "spec")
    attributes = spec.get("volumeAttributesClassName")
    if attributes is not None:
        if not attributes:
            yield required("spec.volumeAttributesClassName", "an empty string is disallowed")
        yield from class_name(spec, "volumeAttributesClassName", "spec")
        if "csi" not in spec:
            yield required("spec.csi", "has to be specified when using volumeAttributesClassName")


def _source(spec: Object) -> Json:
    return {key: value for key, value in spec.items() if key not in _NO_SOURCE}


def _capacity(capacity: Object) -> Iterator[FieldError]:
    if not capacity:
        yield required("spec.capacity")
    if set(capacity) != {"storage"}:
        yield FieldError(
            "FieldValueNotSupported", f'Unsupported value: {as_json(capacity or None)}: supported values: "storage"', "spec.capacity"
        )
    for name, amount in capacity.items():
        yield from _basic(amount, f"spec.capacity[{name}]")
        if Quantity(amount) <= 0:
            yield invalid(f"spec.capacity[{name}]", amount, "must be greater than zero")


def _volume_update(spec: Object, before: Object) -> Iterator[FieldError]:
    source: Any = _source(spec)
    was = _source(before)
    if "controllerExpandSecretRef" not in was.get("csi", {"controllerExpandSecretRef": None}) and "csi" in source:
        source["csi"] = {key: value for key, value in source["csi"].items() if key != "controllerExpandSecretRef"}
    if not same(source, was):
        yield forbidden("spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation")
    yield from unchanged(spec, before, ("volumeMode",), at="")
    affinity = before.get("nodeAffinity")
    if affinity is not None and not same(spec.get("nodeAffinity"), affinity):
        shown = _shown_affinity(spec.get("nodeAffinity"))
        detail = "field is immutable, except for updating from beta label to GA"
        yield FieldError("FieldValueInvalid", f"Invalid value: {shown}: {detail}", "nodeAffinity")
    if before.get("volumeAttributesClassName") is not None and spec.get("volumeAttributesClassName") is None:
        yield forbidden("spec.volumeAttributesClassName", "update from non-nil value to nil is forbidden")


def _shown_affinity(affinity: Object | None) -> str:
    return "null" if affinity is None else as_json(affinity)


BEHAVIOURS = {
    "PersistentVolumeClaim": Behaviour(
        support="common",
        defaults=default_claim,
        prepare_create=prepare_claim,
        prepare_update=prepare_claim_update,
        validate=validate_claim,
        validate_status=validate_claim_status,
        warns=_claim_warnings,
        fills_status=True,
        returns_deleted=True,
    ),
    "PersistentVolume": Behaviour(
        support="common",
        defaults=default_volume,
        prepare_create=prepare_volume,
        settle=settle_volume,
        validate=validate_volume,
        validate_status=lambda new, old: (),
        returns_deleted=True,
    ),
}
