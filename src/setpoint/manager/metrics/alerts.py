"""Alerts, as `setpoint alerts` prints them: a PrometheusRule of the Prometheus operator.

Each tells of something that somebody has to look at; most last for a while before they do. Windows do for a scrape each minute.

https://prometheus-operator.dev/docs/api-reference/api/#monitoring.coreos.com/v1.PrometheusRule
"""

from __future__ import annotations

from typing import Any, NamedTuple

_PLACE = "namespace, job, controller"


class Alert(NamedTuple):
    """One rule. `lasts` is how long it must hold, `summary` and `text` may use the labels of what is found."""

    name: str
    expr: str
    lasts: str
    severity: str
    summary: str
    text: str


ALERTS = (
    Alert(
        "SetpointReconcileErrors",
        f"sum by ({_PLACE}) (rate(controller_runtime_reconcile_errors_total[10m])) "
        f"/ sum by ({_PLACE}) (rate(controller_runtime_reconcile_total[10m])) > 0.1",
        "10m",
        "warning",
        "{{ $labels.controller }}: {{ $value | humanizePercentage }} of all runs fail",
        "Each is tried again with growing pauses. The log says why; `setpoint why KIND NAMESPACE/NAME` shows the last runs of a key.",
    ),
    Alert(
        "SetpointReconcilePanics",
        f"sum by ({_PLACE}) (increase(controller_runtime_reconcile_panics_total[15m])) > 0",
        "0m",
        "warning",
        "{{ $labels.controller }} has a fault in its program",
        "A run raised an error such as TypeError or KeyError. The log has the traceback.",
    ),
    Alert(
        "SetpointQueueStuck",
        f"sum by ({_PLACE}) (workqueue_depth) > 0 and sum by ({_PLACE}) (rate(controller_runtime_reconcile_total[10m])) == 0",
        "10m",
        "critical",
        "{{ $labels.controller }}: {{ $value }} keys wait, and no run ends",
        "All workers wait for something. workqueue_longest_running_processor_seconds tells for how long; a deadline would end such runs.",
    ),
    Alert(
        "SetpointRunStuck",
        f"max by ({_PLACE}) (workqueue_longest_running_processor_seconds) > 900",
        "5m",
        "warning",
        "{{ $labels.controller }}: a run has not ended for {{ $value | humanizeDuration }}",
        "Its key is not reconciled again before that. The log names the run; Controller(deadline=...) ends such runs.",
    ),
    Alert(
        "SetpointWorkersSaturated",
        f"max by ({_PLACE}) (avg_over_time(controller_runtime_active_workers[15m]) / controller_runtime_max_concurrent_reconciles) > 0.95 "
        f"and sum by ({_PLACE}) (workqueue_depth) > 0",
        "15m",
        "warning",
        "{{ $labels.controller }}: its workers are always busy, and keys wait",
        "Raise Controller(concurrency=...), or make runs shorter.",
    ),
    Alert(
        "SetpointThreadPoolSaturated",
        "max by (namespace, job, pod) (min_over_time(setpoint_thread_pool_waiting[10m])) > 0",
        "5m",
        "warning",
        "{{ $labels.pod }}: all threads are taken, and {{ $value }} runs wait for one",
        "Plain def reconcilers share one pool. Let it have more threads, make runs shorter, or write them as async def.",
    ),
    Alert(
        "SetpointReconcileLoop",
        f"sum by ({_PLACE}) (increase(setpoint_reconcile_loops_total[15m])) > 0",
        "0m",
        "warning",
        "{{ $labels.controller }}: a key goes round in circles",
        "Runs change an object, and that change brings the next run. The log names the paths that flip and who writes them.",
    ),
    Alert(
        "SetpointNoLeader",
        "sum by (namespace, job, name) (leader_election_master_status) == 0",
        "5m",
        "critical",
        "No process leads by the lease {{ $labels.name }}",
        "Nothing is reconciled. Is the API server reached, and may the processes write the Lease?",
    ),
    Alert(
        "SetpointCacheStale",
        "max by (namespace, job, pod, kind) (setpoint_cache_age_seconds) > 300",
        "5m",
        "critical",
        "The cache of {{ $labels.kind }} has heard nothing for {{ $value | humanizeDuration }}",
        "Changes of these objects are not seen. Is the API server reached, is the kind still served, may they be watched?",
    ),
    Alert(
        "SetpointRequestsFail",
        'sum by (namespace, job) (rate(rest_client_requests_total{code=~"5..|429|<error>"}[10m])) '
        "/ sum by (namespace, job) (rate(rest_client_requests_total[10m])) > 0.1",
        "10m",
        "warning",
        "{{ $labels.job }}: {{ $value | humanizePercentage }} of all requests to the API server fail",
        "The server is overloaded, away, or not reached.",
    ),
)


def prometheus_rule(name: str = "setpoint", namespace: str = "") -> dict[str, Any]:
    """The PrometheusRule, to be applied where the operator looks for rules. It is about all that is scraped, by namespace and job."""
    metadata: dict[str, Any] = {"name": name, "labels": {"app.kubernetes.io/name": name, "app.kubernetes.io/component": "alerts"}}
    if namespace:
        metadata["namespace"] = namespace
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": metadata,
        "spec": {"groups": [{"name": "setpoint.controllers", "rules": [_rule(alert) for alert in ALERTS]}]},
    }


def _rule(alert: Alert) -> dict[str, Any]:
    return {
        "alert": alert.name,
        "expr": alert.expr,
        "for": alert.lasts,
        "labels": {"severity": alert.severity},
        "annotations": {"summary": alert.summary, "description": alert.text},
    }
