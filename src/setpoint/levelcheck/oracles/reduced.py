"""`reduced`: of one object, what a controller is answerable for.

Out of sight are what the server keeps for itself (versions, managed fields, generations), what depends on the hour, what is allocated,
what the simulated workloads merely tell of themselves, and the order of what is a set. UIDs and generated names stay as they are: what
they mean can only be said with all objects in sight, see `canonical`.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from binascii import Error as NotBase64
from functools import lru_cache
from typing import Any

import msgspec

from setpoint.levelcheck.oracles import generated
from setpoint.levelcheck.oracles.masks import blanked

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")
_EPOCH = re.compile(r"1[6-9]\d{8}(?:\d{3})?(?:\.\d+)?")
"""Seconds, or milliseconds, since 1970, within this age."""
_APART = str.maketrans({chr(code): " " for code in range(128) if not (chr(code).isdigit() or chr(code).islower())})

_ENVIRONMENT = (
    "pods",
    "persistentvolumes",
    "persistentvolumeclaims",
    "nodes",
    "namespaces",
    "services",
    "deployments.apps",
    "replicasets.apps",
    "statefulsets.apps",
    "daemonsets.apps",
    "jobs.batch",
    "cronjobs.batch",
    "poddisruptionbudgets.policy",
)
"""Kinds whose status is the cluster's own telling; of its conditions only type and status count."""

_LEFT_OUT = (
    "events",
    "events.events.k8s.io",
    "leases.coordination.k8s.io",
    "controllerrevisions.apps",
    "customresourcedefinitions.apiextensions.k8s.io",
    "apiservices.apiregistration.k8s.io",
    "flowschemas.flowcontrol.apiserver.k8s.io",
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
)
_SYSTEM = (
    ("configmaps", "kube-root-ca.crt"),
    ("serviceaccounts", "default"),
    ("namespaces", "default"),
    ("namespaces", "kube-system"),
    ("namespaces", "kube-public"),
    ("namespaces", "kube-node-lease"),
    ("services", "kubernetes"),
    ("nodes", "setpoint"),
    ("storageclasses.storage.k8s.io", "standard"),
    ("priorityclasses.scheduling.k8s.io", "system-cluster-critical"),
    ("priorityclasses.scheduling.k8s.io", "system-node-critical"),
)
_BOOKKEEPING = (
    "kubectl.kubernetes.io/last-applied-configuration",
    "endpoints.kubernetes.io/last-change-trigger-time",
    "pv.kubernetes.io/",
    "volume.kubernetes.io/",
    "volume.beta.kubernetes.io/",
    "deployment.kubernetes.io/",
    "deprecated.daemonset.template.generation",
    "batch.kubernetes.io/job-tracking",
)
"""Annotations, or beginnings of their names, that the cluster writes for itself."""

_DROPPED = {
    # Everywhere in an object.
    "collisionCount",
    "containerID",
    "imageID",
    "lastState",
    "restartCount",
    "currentRevision",
    "updateRevision",
    "uncountedTerminatedPods",
    "terminatingReplicas",
    "lastProbeTime",
    "lastHeartbeatTime",
    "lastUpdateTime",
    "deletionGracePeriodSeconds",
}
_ALLOCATED = {
    "clusterIP",
    "clusterIPs",
    "podIP",
    "podIPs",
    "hostIP",
    "hostIPs",
    "nodePort",
    "healthCheckNodePort",
    "volumeName",
    "nodeName",
}
_HASHES = {"pod-template-hash", "controller-revision-hash", "pod-template-generation"}
_SETS = {"finalizers", "ownerReferences", "conditions", "tolerations", "accessModes", "imagePullSecrets", "secrets", "volumes", "endpoints"}
_TELLING = ("type", "status")
_OPAQUE = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9_+/=.-]{8,}|-----BEGIN .*", re.DOTALL)

encode = msgspec.json.Encoder(order="sorted").encode


class Reduced(msgspec.Struct, frozen=True, gc=False):
    """What is left of an object. `text` is JSON without the object's name, with the keys in order."""

    text: str
    name: str
    uid: str
    owner: str
    """The UID of the owner that controls it, or empty."""
    pattern: str
    """Its name with a star for what was made up, as in `shop-*`; empty for a name that was given."""
    addresses: tuple[str, ...]
    words: frozenset[str]
    """All that could be part of a name in `text`."""
    uids: tuple[str, ...]
    """Those that are mentioned."""
    sets: str
    """The lists in it whose order says nothing, as JSON: they are in the order of names that are yet to be told."""
    kind: str


@lru_cache(maxsize=16384)
def reduced(resource: str, raw: bytes, keep: tuple[str, ...] = (), masked: tuple[str, ...] = ()) -> Reduced | None:
    """None for what is nobody's doing, such as a namespace of the system. What is in `keep`, the user has said: it stays as it is."""
    obj: dict[str, Any] = msgspec.json.decode(raw)
    metadata: dict[str, Any] = obj.get("metadata") or {}
    if _is_left_out(resource, obj, metadata):
        return None
    generation = metadata.get("generation")
    name: str = metadata.get("name", "")
    walk = _Walk(keep, generation, told=resource in _ENVIRONMENT, of_object=True)
    kept: dict[str, Any] = {"kind": obj.get("kind", "")}
    for key, value in obj.items():
        if key == "metadata":
            kept[key] = _metadata(metadata, walk)
        elif key not in ("kind", "apiVersion"):
            kept[key] = (
                _secrets(value, keep)
                if resource == "secrets" and key in ("data", "stringData")
                else walk(value, key, in_status=key == "status")
            )
    if resource == "persistentvolumeclaims" and isinstance(kept.get("status"), dict):
        kept["status"].pop("capacity", None)  # that of the volume: when it grows is the cluster's affair
    if kept.get("status") == {}:
        del kept["status"]
    if masked:
        kept = blanked(kept, masked)
    text = encode(kept).decode()
    return Reduced(
        text=text,
        name=name,
        uid=metadata.get("uid", ""),
        owner=next((owner.get("uid", "") for owner in metadata.get("ownerReferences") or () if owner.get("controller")), ""),
        pattern=generated.pattern(resource, obj),
        addresses=_addresses(obj),
        words=words(text),
        uids=tuple(walk.uids),
        sets=b"".join(walk.sets).decode(),
        kind=str(kept["kind"]).lower(),
    )


def words(text: str) -> frozenset[str]:
    """All that could be part of a name in a text."""
    return frozenset(text.translate(_APART).split())


def timeless(text: str, keep: tuple[str, ...]) -> str:
    """A text without the times in it."""
    if len(text) >= 10:
        if "T" in text and ":" in text:
            return _TIME.sub(lambda found: found[0] if found[0] in keep else "<time>", text)
        if text[0] == "1" and _EPOCH.fullmatch(text) and text not in keep:
            return "<time>"
    return text


def told(value: Any, keep: tuple[str, ...] = ()) -> Any:
    """What somebody tells in JSON, without times, and without an order where it is a list of things."""
    return _Walk(keep, None, told=False)(value, "", in_status=True)


def ordered(text: str) -> str:
    """What was reduced, in order again after its names have been told. Entries of a map that have come to one name are counted."""
    return encode(_in_order(json.loads(text, object_pairs_hook=_entries), "", in_status=False)).decode()


def ordered_outside(text: str) -> str:
    """As `ordered`, of what an outside tells of itself: no list there has an order."""
    return encode(_in_order(json.loads(text, object_pairs_hook=_entries), "", in_status=True)).decode()


def _in_order(value: Any, key: str, *, in_status: bool) -> Any:
    if isinstance(value, dict):
        return {name: _in_order(each, name, in_status=in_status or name == "status") for name, each in value.items()}
    if isinstance(value, list):
        items = [_in_order(each, "", in_status=in_status) for each in value]
        return sorted(items, key=encode) if in_status or key in _SETS else items
    return value


def _entries(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        alike: dict[str, list[Any]] = {}
        for key, value in pairs:
            alike.setdefault(key, []).append(value)
        found = {}
        for key, values in alike.items():
            for nth, value in enumerate(sorted(values, key=encode), 1):
                found[key if nth == 1 else f"{key}#{nth}"] = value
    return found


class _Walk:
    def __init__(self, keep: tuple[str, ...], generation: Any, *, told: bool, of_object: bool = False) -> None:
        self._is_of_object = of_object
        self._keep = keep
        self._generation = generation
        self._told = told
        self.uids: dict[str, None] = {}
        self.sets: list[bytes] = []

    def __call__(self, value: Any, key: str, *, in_status: bool) -> Any:
        if key in _ALLOCATED and value not in ("None", None) and value not in self._keep:
            return "<allocated>"
        if isinstance(value, dict):
            found = {}
            for name, each in value.items():
                if name in _DROPPED or each is None:
                    continue
                said = self._scalar(name, each) if not isinstance(each, (dict, list)) else self(each, name, in_status=in_status)
                # In a status what is empty is as good as absent; and so is, of an object, a zero or an empty text: where a status was never
                # anything else, nobody has had to write it.
                if not in_status or said or (said not in ({}, []) and not self._is_of_object):
                    found[name] = said
            return found
        if isinstance(value, list):
            return self._list(value, key, in_status)
        return self._scalar(key, value)

    def _list(self, value: list[Any], key: str, in_status: bool) -> list[Any]:
        items = [self(each, "", in_status=in_status) for each in value]
        if key == "conditions" and in_status:
            items = [self._condition(item) if isinstance(item, dict) else item for item in items]
        if len(items) > 1 and (in_status or key in _SETS):
            items.sort(key=encode)
            self.sets.append(encode(items))
        return items

    def _condition(self, item: dict[str, Any]) -> dict[str, Any]:
        return {
            name: value
            for name, value in item.items()
            if (name in _TELLING if self._told and "type" in item else name != "observedGeneration")
        }

    def _scalar(self, key: str, value: Any) -> Any:
        if key in _HASHES:
            return "<hash>"
        if key in _ALLOCATED and value not in ("None", "", None) and str(value) not in self._keep:
            return "<allocated>"
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            if key == "observedGeneration":
                return "<current>" if value == self._generation else "<stale>"
            if key.endswith("Generation"):
                return "<generation>"
            if (1.6e9 < value < 2e9 or 1.6e12 < value < 2e12) and str(value) not in self._keep:
                return "<time>"
            return value
        if isinstance(value, str):
            if len(value) >= 36:
                self.uids.update(dict.fromkeys(generated.UID.findall(value)))
            if key[-7:].lower() == "version" and key.lower().replace("-", "").endswith("resourceversion"):
                return "<version>"
            return timeless(value, self._keep)
        return value


def _metadata(metadata: dict[str, Any], walk: _Walk) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key in ("labels", "finalizers", "ownerReferences"):
        if metadata.get(key):
            kept[key] = walk(metadata[key], key, in_status=False)
    annotations = {name: value for name, value in (metadata.get("annotations") or {}).items() if not name.startswith(_BOOKKEEPING)}
    if annotations:
        kept["annotations"] = walk(annotations, "annotations", in_status=False)
    if metadata.get("deletionTimestamp"):
        kept["deletionTimestamp"] = "<time>"
    return kept


def _secrets(data: Any, keep: tuple[str, ...]) -> Any:
    """A password that was made up is not compared: each that is made is another."""
    if not isinstance(data, dict):
        return data
    found = {}
    for name, value in data.items():
        try:
            text = b64decode(str(value), validate=True).decode()
        except (NotBase64, UnicodeDecodeError):
            text = "<secret>"
        found[name] = "<secret>" if _OPAQUE.fullmatch(text) and text not in keep else text
    return found


def _is_left_out(resource: str, obj: dict[str, Any], metadata: dict[str, Any]) -> bool:
    if resource in _LEFT_OUT or (resource, metadata.get("name", "")) in _SYSTEM:
        return True
    if metadata.get("namespace") in ("kube-system", "kube-public", "kube-node-lease") and resource != "leases.coordination.k8s.io":
        return not metadata.get("managedFields") and resource in ("configmaps", "serviceaccounts", "services")
    if resource == "endpointslices.discovery.k8s.io":
        return "endpointslice.kubernetes.io/managed-by" in (metadata.get("labels") or {})
    if resource == "persistentvolumes":
        # What was provisioned for a claim follows from the claim.
        return "pv.kubernetes.io/provisioned-by" in (metadata.get("annotations") or {})
    if resource == "replicasets.apps":
        # What a Deployment keeps to roll back to is history.
        owned = any(owner.get("kind") == "Deployment" for owner in metadata.get("ownerReferences") or ())
        return owned and not (obj.get("spec") or {}).get("replicas") and not (obj.get("status") or {}).get("replicas")
    return False


def _addresses(obj: dict[str, Any]) -> tuple[str, ...]:
    status, spec = obj.get("status"), obj.get("spec")
    found = [status.get("podIP") if isinstance(status, dict) else None, spec.get("clusterIP") if isinstance(spec, dict) else None]
    return tuple(address for address in found if isinstance(address, str) and address[:1].isdigit())
