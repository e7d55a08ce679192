"""What create and update do to objects of built-in kinds beyond what they do to any object, and what they refuse.

Everything here is a function of the objects. They have been read (`malformed` finds nothing), have lost their nulls and have their
defaults (`defaults.apply_defaults`). Objects change at their top level only; what they hold is replaced. Kinds are known by their names;
for one that is not built in (or CustomResourceDefinition) nothing happens.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from setpoint.api import StatusCause
from setpoint.cluster.server import names
from setpoint.cluster.server.schema.causes import invalid, required

from . import event_forms
from .data import validate_config_map, validate_secret
from .pods import validate_pod
from .services import allocate, keep_allocated, validate_service
from .workloads import validate_deployment, validate_replica_set

Json = dict[str, Any]

_UNREADY = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_KEEP_UNREADY_SECONDS = 300
_NAMESPACE_LABEL = "kubernetes.io/metadata.name"


def prepare_create(kind: str, obj: Json, taken: Collection[str | int] = ()) -> None:
    """Before validation of a new object, once it has its name: its first status, and what the cluster gives it.

    Whatever status was sent is dropped where status is a subresource. ``taken``: the cluster addresses and node ports of all services.
    """
    if kind == "Pod":
        _admit_pod(obj)
        obj["status"] = {"phase": "Pending", "qosClass": _quality_of_service(obj["spec"])}
    elif kind == "Service":
        obj["status"] = {"loadBalancer": {}}
        allocate(obj, taken)
    elif kind == "Deployment":
        obj["status"] = {}
    elif kind == "ReplicaSet":
        obj["status"] = {"replicas": 0}
    elif kind == "Namespace":
        spec = obj.get("spec") or {}
        finalizers = spec.get("finalizers") or []
        obj["spec"] = {**spec, "finalizers": finalizers if "kubernetes" in finalizers else [*finalizers, "kubernetes"]}
        obj["status"] = {"phase": "Active"}
        metadata = obj["metadata"]
        obj["metadata"] = {**metadata, "labels": {**(metadata.get("labels") or {}), _NAMESPACE_LABEL: metadata.get("name", "")}}


def prepare_update(kind: str, new: Json, old: Mapping[str, Any], subresource: str = "", taken: Collection[str | int] = ()) -> None:
    """Before validation of a changed object: takes over from ``old`` what this request may not touch.

    ``subresource`` is "", "status", "finalize" or "scale" (which changes the number only, so nothing is taken over).
    """
    if kind == "Namespace":
        kept = {"": ("spec", "status"), "status": ("spec",), "finalize": ("status",)}.get(subresource, ())
    else:
        kept = {"": ("status",), "status": ("spec",)}.get(subresource, ()) if kind in _WITH_STATUS else ()
    for name in kept:
        if name in old:
            new[name] = old[name]
        else:
            new.pop(name, None)
    if kind == "Pod" and subresource == "status":
        # Set once, when the pod is created.
        status = {**(new.get("status") or {})}
        if quality := (old.get("status") or {}).get("qosClass"):
            status["qosClass"] = quality
        new["status"] = status
    if kind == "Pod" and subresource == "":
        _admit_pod(new)
    if kind == "Service" and subresource == "":
        keep_allocated(new, dict(old))
        allocate(new, taken)


def validate(kind: str, new: Mapping[str, Any], old: Mapping[str, Any] | None, taken: Collection[str | int] = ()) -> list[StatusCause]:
    """What is wrong with an object, or with its change from ``old``, in the words of kube-apiserver. Metadata is not looked at.

    ``taken`` as for `prepare_create`: who asks for an address or a port that another service has is refused.
    """
    if kind == "Service":
        return list(validate_service(new, old, taken))
    return list(_problems(kind, new, old))


def wants_new_generation(kind: str, new: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    """Whether a change of an object counts in ``metadata.generation``, for a kind that has one."""
    if new.get("spec") != old.get("spec"):
        return True
    return kind == "Deployment" and _annotations(new) != _annotations(old)


def _annotations(obj: Mapping[str, Any]) -> Mapping[str, Any]:
    return (obj.get("metadata") or {}).get("annotations") or {}


_WITH_STATUS = ("Deployment", "Namespace", "Pod", "ReplicaSet", "Service")


def _admit_pod(obj: Json) -> None:
    """What the admission plugins of a default cluster add: priority and tolerations."""
    spec: Json = {**(obj.get("spec") or {})}
    spec.setdefault("priority", 0)
    spec.setdefault("preemptionPolicy", "PreemptLowerPriority")
    tolerations = list(spec.get("tolerations") or [])
    for taint in _UNREADY:
        if not any(_tolerates(toleration, taint) for toleration in tolerations):
            tolerations.append({"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _KEEP_UNREADY_SECONDS})
    spec["tolerations"] = tolerations
    obj["spec"] = spec


def _tolerates(toleration: Mapping[str, Any], taint: str) -> bool:
    if toleration.get("effect") not in (None, "", "NoExecute"):
        return False
    return toleration.get("key") in (None, "", taint)


def _quality_of_service(spec: Mapping[str, Any]) -> str:
    """https://kubernetes.io/docs/concepts/workloads/pods/pod-qos/"""
    containers = [*(spec.get("initContainers") or []), *(spec.get("containers") or [])]
    resources = [container.get("resources") or {} for container in containers]
    counted = ("cpu", "memory")
    stated = [name for each in resources for part in ("limits", "requests") for name in each.get(part) or {} if name in counted]
    if not stated:
        return "BestEffort"
    for each in resources:
        limits, requests = each.get("limits") or {}, each.get("requests") or {}
        if any(name not in limits or requests.get(name) != limits[name] for name in counted):
            return "Burstable"
    return "Guaranteed"


def _problems(kind: str, new: Mapping[str, Any], old: Mapping[str, Any] | None) -> Iterator[StatusCause]:
    match kind:
        case "Deployment":
            yield from validate_deployment(new, old)
        case "ReplicaSet":
            yield from validate_replica_set(new, old)
        case "Pod":
            yield from validate_pod(new, old)
        case "ConfigMap":
            yield from validate_config_map(new, old)
        case "Secret":
            yield from validate_secret(new, old)
        case "Namespace":
            for finalizer in (new.get("spec") or {}).get("finalizers") or []:
                yield from (invalid("spec.finalizers", finalizer, problem) for problem in names.label_key(finalizer))
                if "/" not in finalizer and finalizer != "kubernetes":
                    detail = "name is neither a standard finalizer name nor is it fully qualified"
                    yield invalid("spec.finalizers", finalizer, detail)
            yield from _phase(new)
        case "Lease":
            spec = new.get("spec") or {}
            if spec.get("leaseDurationSeconds", 1) <= 0:
                yield invalid("spec.leaseDurationSeconds", spec["leaseDurationSeconds"], "must be greater than 0")
            if spec.get("leaseTransitions", 0) < 0:
                yield invalid("spec.leaseTransitions", spec["leaseTransitions"], "must be greater than or equal to 0")
        case "Event":
            yield from _event(new, old)


def _phase(namespace: Mapping[str, Any]) -> Iterator[StatusCause]:
    phase, deleted = (namespace.get("status") or {}).get("phase", ""), "deletionTimestamp" in namespace["metadata"]
    if phase != ("Terminating" if deleted else "Active"):
        detail = f"may only be '{'Terminating' if deleted else 'Active'}' if `deletionTimestamp` is {'not ' if deleted else ''}empty"
        yield invalid("status.Phase", phase, detail)


def _event(new: Mapping[str, Any], old: Mapping[str, Any] | None) -> Iterator[StatusCause]:
    namespace = (new.get("metadata") or {}).get("namespace", "")
    about = (new.get("involvedObject") or {}).get("namespace", "")
    # Events about objects outside any namespace live in one of these.
    if namespace not in ((about,) if about else ("", "default", "kube-system")):
        yield invalid("involvedObject.namespace", about, "does not match event.namespace")
    if old is not None or new.get("eventTime") is None:
        return
    reporter = new.get("reportingComponent", "")
    if not reporter:
        yield required("reportingComponent")
    yield from (invalid("reportingComponent", reporter, problem) for problem in names.label_key(reporter))
    for name in ("reportingInstance", "action", "reason"):
        if not new.get(name):
            yield required(name)
    yield from event_forms.too_long(new)
