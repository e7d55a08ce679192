"""Pods: what they are filled in with, what the cluster adds to them, and what they must obey.

https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from setpoint.cluster.server.builtin.behaviour import Behaviour, Json, Object
from setpoint.cluster.server.builtin.defaults import default_pod_spec, dicts_in
from setpoint.cluster.server.builtin.equality import same
from setpoint.cluster.server.builtin.pod_admission import admit_pod_update
from setpoint.cluster.server.builtin.pod_resources import default_pod_resources, quality_of_service
from setpoint.cluster.server.builtin.pod_status import validate_pod_status
from setpoint.cluster.server.builtin.pod_warnings import name_warnings, pod_warnings
from setpoint.cluster.server.builtin.pods import validate_pod


def _defaults(obj: Json) -> None:
    spec, status = obj.get("spec"), obj.get("status")
    if isinstance(spec, dict):
        for container in dicts_in(spec.get("initContainers"), spec.get("containers")):
            resources = container.get("resources")
            if isinstance(resources, dict) and isinstance(limits := resources.get("limits"), dict):
                resources["requests"] = {**limits, **(resources.get("requests") or {})}
        default_pod_spec(spec)
        default_pod_resources(spec)
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
    status: Json = {"phase": "Pending", "qosClass": quality_of_service(obj["spec"])}
    if obj["spec"].get("schedulingGates"):
        status["conditions"] = [
            {
                "type": "PodScheduled",
                "status": "False",
                "lastProbeTime": None,
                "lastTransitionTime": obj["metadata"]["creationTimestamp"],
                "reason": "SchedulingGated",
                "message": "Scheduling is blocked due to non-empty scheduling gates",
            }
        ]
    obj["status"] = status


def _prepare_update(new: Json, old: Object, subresource: str) -> None:
    if subresource == "status":
        # Set once, when the pod is created.
        status = {**(new.get("status") or {})}
        if quality := (old.get("status") or {}).get("qosClass"):
            status["qosClass"] = quality
        new["status"] = status
    else:
        admit_pod_update(new, old)


def _warnings(new: Object, old: Object | None) -> Iterator[str]:
    if old is None:
        yield from name_warnings(new, "in the Pod's hostname")
    if old is None or not same(new["spec"], old["spec"]):
        yield from pod_warnings(new["spec"], "spec")


BEHAVIOURS: Mapping[str, Behaviour] = {
    "Pod": Behaviour(
        support="common",
        defaults=_defaults,
        prepare_create=_prepare_create,
        prepare_update=_prepare_update,
        validate=validate_pod,
        validate_status=validate_pod_status,
        warns=_warnings,
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
