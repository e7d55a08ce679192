"""Simulated workloads: Deployments make ReplicaSets, ReplicaSets make Pods, and Pods become Ready after a moment. No container runs.

They behave, as far as the API shows, like the controllers of a real cluster, so that whatever waits for a Deployment to become available
has something to wait for. What is simpler than there: pods are not bound to nodes, orphans are not adopted, a rollout that does not
progress is not reported as such, and a Deployment's `deployment.kubernetes.io/revision` is on its ReplicaSets only.

https://kubernetes.io/docs/concepts/workloads/controllers/deployment/
"""

from __future__ import annotations

from typing import Any

from setpoint.cluster.controllers.workloads.deployments import deployment_controller
from setpoint.cluster.controllers.workloads.pods import READY_AFTER, pod_controller
from setpoint.cluster.controllers.workloads.replicasets import replica_set_controller
from setpoint.controller import Controller


def workload_controllers() -> list[Controller[Any]]:
    """The controllers of Deployments, ReplicaSets and Pods, made anew."""
    return [deployment_controller(), replica_set_controller(), pod_controller()]


__all__ = ["READY_AFTER", "workload_controllers"]
