"""Simulated workloads: what makes pods makes them, pods run after a moment, and what waits for them hears of it. No container runs.

They behave, as far as the API shows, like the controllers of a real cluster, so that whatever waits for a Deployment to become available,
or for a Job to be complete, has something to wait for. `behaviour` has the annotations by which pods fail on request.

What is simpler than there: one node has room for everything, and only the pods of DaemonSets are said to be on it; of orphans only the
pods of StatefulSets are adopted; claims are bound at once.

https://kubernetes.io/docs/concepts/workloads/controllers/
"""

from __future__ import annotations

from typing import Any

from setpoint.cluster.controllers.workloads.cronjobs import cron_job_controller
from setpoint.cluster.controllers.workloads.daemonsets import daemon_set_controller
from setpoint.cluster.controllers.workloads.deployments import deployment_controller
from setpoint.cluster.controllers.workloads.endpoints import endpoint_controller
from setpoint.cluster.controllers.workloads.jobs import job_controller
from setpoint.cluster.controllers.workloads.node import node_controller
from setpoint.cluster.controllers.workloads.pods import pod_controller
from setpoint.cluster.controllers.workloads.replicasets import replica_set_controller
from setpoint.cluster.controllers.workloads.statefulsets import stateful_set_controller
from setpoint.cluster.controllers.workloads.volumes import volume_controllers
from setpoint.controller import Controller


def workload_controllers() -> list[Controller[Any]]:
    """The controllers of everything that makes pods, of pods, and of what these need; made anew."""
    return [
        deployment_controller(),
        replica_set_controller(),
        stateful_set_controller(),
        daemon_set_controller(),
        job_controller(),
        cron_job_controller(),
        pod_controller(),
        node_controller(),
        *volume_controllers(),
        endpoint_controller(),
    ]


__all__ = ["workload_controllers"]
