"""The group apps: workloads that keep pods running.

https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/
"""

from __future__ import annotations

from collections.abc import Mapping

from setpoint.cluster.server.builtin.behaviour import Behaviour, Json, Object, spec_changed
from setpoint.cluster.server.builtin.defaults import default_template
from setpoint.cluster.server.builtin.templates import template_warnings
from setpoint.cluster.server.builtin.workloads import (
    validate_deployment,
    validate_deployment_status,
    validate_replica_set,
    validate_replica_set_status,
)


def _deployment_defaults(obj: Json) -> None:
    spec = obj.get("spec")
    if not isinstance(spec, dict):
        return
    spec.setdefault("replicas", 1)
    strategy = spec.setdefault("strategy", {})
    if isinstance(strategy, dict):
        strategy.setdefault("type", "RollingUpdate")
        if strategy["type"] == "RollingUpdate":
            rolling = strategy.setdefault("rollingUpdate", {})
            if isinstance(rolling, dict):
                rolling.setdefault("maxUnavailable", "25%")
                rolling.setdefault("maxSurge", "25%")
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault("progressDeadlineSeconds", 600)
    default_template(spec.get("template"))


def _replica_set_defaults(obj: Json) -> None:
    spec = obj.get("spec")
    if not isinstance(spec, dict):
        return
    spec.setdefault("replicas", 1)
    default_template(spec.get("template"))
    status = obj.get("status")
    if isinstance(status, dict):
        status.setdefault("replicas", 0)


def _deployment_counts(new: Object, old: Object) -> bool:
    """Annotations count as well, since they go into the replica sets."""
    return spec_changed(new, old) or (new["metadata"].get("annotations") or {}) != (old["metadata"].get("annotations") or {})


BEHAVIOURS: Mapping[str, Behaviour] = {
    "Deployment": Behaviour(
        zero_replicas=True,
        support="full",
        defaults=_deployment_defaults,
        validate=validate_deployment,
        validate_status=validate_deployment_status,
        warns=template_warnings,
        generation=True,
        counts=_deployment_counts,
        status_keeps=("labels",),
    ),
    "ReplicaSet": Behaviour(
        zero_replicas=True,
        support="full",
        defaults=_replica_set_defaults,
        validate=validate_replica_set,
        validate_status=validate_replica_set_status,
        warns=template_warnings,
        generation=True,
    ),
}
