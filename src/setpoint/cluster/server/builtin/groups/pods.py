"""Pods: what they are filled in with, what the cluster adds to them, and what they must obey.

https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.cluster.server.builtin.behaviour import Behaviour, Json, Object
from setpoint.cluster.server.builtin.defaults import dicts_in, default_pod_spec
from setpoint.cluster.server.builtin.pods import validate_pod

_UNREADY = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_KEEP_UNREADY_SECONDS = 300


def _defaults(obj: Json) -> None:
    spec, status = obj.get("spec"), obj.get("status")
    if isinstance(spec, dict):
        for container in dicts_in(spec.get("initContainers"), spec.get("containers")):
            resources = container.get("resources")
            if isinstance(resources, dict) and isinstance(limits := resources.get("limits"), dict):
                resources["requests"] = {**limits, **(resources.get("requests") or {})}
        default_pod_spec(spec)
        spec.setdefault("enableServiceLinks", True)
        if isinstance(spec["terminationGracePeriodSeconds"], int) and spec["terminationGracePeriodSeconds"] < 0:
            spec["terminationGracePeriodSeconds"] = 1
        if spec.get("hostNetwork"):
            for container in dicts_in(spec.get("initContainers"), spec.get("containers")):
                for port in dicts_in(container.get("ports")):
                    port.setdefault("hostPort", port.get("containerPort", 0))
    if isinstance(status, dict):
        _pod_addresses(status)


def _pod_addresses(status: Json) -> None:
    address, addresses = status.get("podIP"), status.get("podIPs")
    if address and (not addresses or addresses[0].get("ip") != address):
        status["podIPs"] = [{"ip": address}]
    elif addresses and not address:
        status["podIP"] = addresses[0].get("ip", "")


def _prepare_create(obj: Json) -> None:
    _admit(obj)
    obj["status"] = {"phase": "Pending", "qosClass": _quality_of_service(obj["spec"])}


def _prepare_update(new: Json, old: Object, subresource: str) -> None:
    if subresource == "status":
        # Set once, when the pod is created.
        status = {**(new.get("status") or {})}
        if quality := (old.get("status") or {}).get("qosClass"):
            status["qosClass"] = quality
        new["status"] = status
    else:
        _admit(new)


def _admit(obj: Json) -> None:
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


BEHAVIOURS: Mapping[str, Behaviour] = {
    "Pod": Behaviour(
        support="common",
        defaults=_defaults,
        prepare_create=_prepare_create,
        prepare_update=_prepare_update,
        validate=validate_pod,
        generation=True,
        returns_deleted=True,
        status_keeps=("ownerReferences",),
        selectable=(
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "spec.host",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ),
    )
}
