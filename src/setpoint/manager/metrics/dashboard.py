"""The Grafana dashboard, as `setpoint dashboard` prints it: made from the table below, for Grafana 10 and newer.

It asks for metrics under controller-runtime's names where there are such, so it shows most of what a controller in Go exposes as well.
`namespace`, `pod` and `job` are labels that Prometheus gives to what it scrapes.

https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

_OF_CONTROLLERS = 'namespace=~"$namespace",job=~"$job",controller=~"$controller"'
_OF_PROCESSES = 'namespace=~"$namespace",job=~"$job"'
_RATE = "$__rate_interval"
_WIDTH, _HEIGHT, _PER_ROW = 8, 8, 3


class Query(NamedTuple):
    """What is drawn: an expression, and what its lines are called. `S` in it is the selection by the dashboard's variables."""

    expr: str
    legend: str


class Panel(NamedTuple):
    """One graph. `unit` is Grafana's name of one."""

    title: str
    unit: str
    text: str
    queries: tuple[Query, ...]
    most: float | None = None


def _quantiles(metric: str, by: str, selection: str) -> tuple[Query, ...]:
    return tuple(
        Query(
            f"histogram_quantile({quantile}, sum by ({by}, le) (rate({metric}_bucket{{{selection}}}[{_RATE}])))",
            f"{{{{{by}}}}} p{quantile * 100:g}",
        )
        for quantile in (0.5, 0.99)
    )


def _rate(metric: str, by: str, selection: str, legend: str = "") -> Query:
    named = " ".join(f"{{{{{label.strip()}}}}}" for label in by.split(","))
    return Query(f"sum by ({by}) (rate({metric}{{{selection}}}[{_RATE}]))", f"{named} {legend}".strip())


_C, _P = _OF_CONTROLLERS, _OF_PROCESSES

ROWS: dict[str, tuple[Panel, ...]] = {
    "Runs": (
        Panel(
            "Runs",
            "ops",
            "Runs per second, by how they ended. A conflict that is tried again ends as requeue.",
            (_rate("controller_runtime_reconcile_total", "controller, result", _C),),
        ),
        Panel(
            "Failed runs",
            "percentunit",
            "The share of runs that failed.",
            (
                Query(
                    f"sum by (controller) (rate(controller_runtime_reconcile_errors_total{{{_C}}}[{_RATE}])) "
                    f"/ sum by (controller) (rate(controller_runtime_reconcile_total{{{_C}}}[{_RATE}]))",
                    "{{controller}}",
                ),
            ),
            1,
        ),
        Panel("Duration", "s", "How long runs take.", _quantiles("controller_runtime_reconcile_time_seconds", "controller", _C)),
        Panel(
            "Busy workers",
            "percentunit",
            "The share of workers that are at work. At 1, keys wait for a worker: raise the concurrency, or make runs shorter.",
            (
                Query(
                    f"sum by (controller) (controller_runtime_active_workers{{{_C}}}) "
                    f"/ sum by (controller) (controller_runtime_max_concurrent_reconciles{{{_C}}})",
                    "{{controller}}",
                ),
            ),
            1,
        ),
        Panel(
            "What went wrong",
            "ops",
            "Faults in the program, runs that were ended at their deadline, and what is not tried again.",
            (
                _rate("controller_runtime_reconcile_panics_total", "controller", _C, "panics"),
                _rate("controller_runtime_reconcile_timeouts_total", "controller", _C, "timeouts"),
                _rate("controller_runtime_terminal_reconcile_errors_total", "controller", _C, "terminal errors"),
                _rate("setpoint_mapper_errors_total", "controller", _C, "failed mappers"),
            ),
        ),
        Panel(
            "Races and circles",
            "ops",
            "Runs that lost a race against another writer, and keys that were found going round in circles: somebody writes against us.",
            (
                _rate("setpoint_reconcile_conflicts_total", "controller", _C, "conflicts"),
                _rate("setpoint_reconcile_loops_total", "controller", _C, "circles"),
            ),
        ),
    ),
    "Queue": (
        Panel(
            "Depth", "short", "Keys that wait for a worker.", (Query(f"sum by (controller) (workqueue_depth{{{_C}}})", "{{controller}}"),)
        ),
        Panel(
            "Adds and retries",
            "ops",
            "Keys that became ready, and those that were asked for after a while: backoff, and requeue_after.",
            (
                _rate("workqueue_adds_total", "controller", _C, "adds"),
                _rate("workqueue_retries_total", "controller", _C, "retries"),
            ),
        ),
        Panel("Time in the queue", "s", "How long ready keys wait.", _quantiles("workqueue_queue_duration_seconds", "controller", _C)),
        Panel("Time at work", "s", "How long a key keeps a worker.", _quantiles("workqueue_work_duration_seconds", "controller", _C)),
        Panel(
            "Unfinished work",
            "s",
            "The ages of the runs in progress: their sum, and the longest.",
            (
                Query(f"sum by (controller) (workqueue_unfinished_work_seconds{{{_C}}})", "{{controller}} all"),
                Query(f"max by (controller) (workqueue_longest_running_processor_seconds{{{_C}}})", "{{controller}} longest"),
            ),
        ),
    ),
    "API server": (
        Panel("Requests", "ops", "Requests per second.", (_rate("rest_client_requests_total", "method, code", _P),)),
        Panel(
            "Failed requests",
            "percentunit",
            "The share of requests that were refused, failed or got no answer. Conflicts are refusals, too.",
            (
                Query(
                    f'sum(rate(rest_client_requests_total{{{_P},code!~"[123].."}}[{_RATE}])) '
                    f"/ sum(rate(rest_client_requests_total{{{_P}}}[{_RATE}]))",
                    "failed",
                ),
            ),
            1,
        ),
        Panel(
            "Latency",
            "s",
            "How long requests take. Only with --request-metrics.",
            _quantiles("rest_client_request_duration_seconds", "verb", _P),
        ),
        Panel(
            "Applies that were not sent",
            "ops",
            "They would have changed nothing.",
            (_rate("setpoint_applies_skipped_total", "controller", _C),),
        ),
    ),
    "Cache and outside": (
        Panel(
            "Cached objects",
            "short",
            "What the caches hold, in one process.",
            (Query(f"max by (kind) (setpoint_cache_objects{{{_P}}})", "{{kind}}"),),
        ),
        Panel("Cached bytes", "bytes", "What that takes.", (Query(f"max by (kind) (setpoint_cache_bytes{{{_P}}})", "{{kind}}"),)),
        Panel(
            "Age",
            "s",
            "How long ago the API server was last heard of a kind. About a minute, while all is well.",
            (Query(f"max by (kind) (setpoint_cache_age_seconds{{{_P}}})", "{{kind}}"),),
        ),
        Panel(
            "Effects",
            "ops",
            "Calls to what is outside Kubernetes, and those that failed.",
            (
                _rate("setpoint_effect_duration_seconds_count", "call", _C),
                _rate("setpoint_effect_errors_total", "call", _C, "failed"),
            ),
        ),
        Panel("Duration of effects", "s", "How long they take.", _quantiles("setpoint_effect_duration_seconds", "call", _C)),
    ),
    "Process": (
        Panel(
            "Leader",
            "short",
            "1 for the process that leads; only with leader election.",
            (Query(f"leader_election_master_status{{{_P}}}", "{{pod}} {{name}}"),),
        ),
        Panel("CPU", "short", "Cores in use.", (Query(f"rate(process_cpu_seconds_total{{{_P}}}[{_RATE}])", "{{pod}}"),)),
        Panel("Memory", "bytes", "Resident memory.", (Query(f"process_resident_memory_bytes{{{_P}}}", "{{pod}}"),)),
        Panel(
            "Thread pool",
            "short",
            "Threads that plain def reconcilers have taken, and runs that wait for one.",
            (
                Query(f"setpoint_thread_pool_in_use{{{_P}}}", "{{pod}} in use"),
                Query(f"setpoint_thread_pool_waiting{{{_P}}}", "{{pod}} waiting"),
                Query(f"setpoint_thread_pool_size{{{_P}}}", "{{pod}} all"),
            ),
        ),
        Panel("Open files", "short", "File descriptors, sockets among them.", (Query(f"process_open_fds{{{_P}}}", "{{pod}}"),)),
        Panel(
            "Garbage collections",
            "ops",
            "Python's collector. A full one (generation 2) stops everything for its time.",
            (Query(f"rate(python_gc_collections_total{{{_P}}}[{_RATE}])", "{{pod}} generation {{generation}}"),),
        ),
    ),
}


def dashboard(title: str = "Setpoint controllers") -> dict[str, Any]:
    """The dashboard's JSON model, to be imported or provisioned. It asks for its Prometheus data source."""
    return {
        "title": title,
        "uid": "setpoint-controllers",
        "tags": ["kubernetes", "setpoint"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-1h", "to": "now"},
        "timezone": "",
        "templating": {"list": list(_variables())},
        "annotations": {"list": []},
        "panels": list(_panels()),
    }


def _variables() -> Iterator[dict[str, Any]]:
    yield {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus", "current": {}}
    selected = ""
    for name in ("job", "namespace", "controller"):
        query = f"label_values(controller_runtime_reconcile_total{f'{{{selected}}}' if selected else ''}, {name})"
        yield {
            "name": name,
            "label": name.capitalize(),
            "type": "query",
            "datasource": _source(),
            "definition": query,
            "query": {"query": query, "refId": "StandardVariableQuery"},
            "refresh": 2,
            "sort": 1,
            "multi": True,
            "includeAll": True,
            "allValue": ".*",
            "current": {"text": "All", "value": "$__all"},
        }
        selected += f'{"," if selected else ""}{name}=~"${name}"'


def _panels() -> Iterator[dict[str, Any]]:
    number = y = 0
    for title, panels in ROWS.items():
        number += 1
        yield {"id": number, "type": "row", "title": title, "collapsed": False, "panels": [], "gridPos": _place(0, y, 24, 1)}
        y += 1
        for at, panel in enumerate(panels):
            number += 1
            yield _graph(number, panel, _place(at % _PER_ROW * _WIDTH, y + at // _PER_ROW * _HEIGHT, _WIDTH, _HEIGHT))
        y += -(-len(panels) // _PER_ROW) * _HEIGHT


def _graph(number: int, panel: Panel, place: dict[str, int]) -> dict[str, Any]:
    defaults: dict[str, Any] = {"unit": panel.unit, "min": 0, "custom": {"fillOpacity": 10, "showPoints": "never"}}
    if panel.most is not None:
        defaults["max"] = panel.most
    return {
        "id": number,
        "type": "timeseries",
        "title": panel.title,
        "description": panel.text,
        "datasource": _source(),
        "gridPos": place,
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi", "sort": "desc"}},
        "targets": [
            {"refId": chr(ord("A") + at), "datasource": _source(), "expr": query.expr, "legendFormat": query.legend, "range": True}
            for at, query in enumerate(panel.queries)
        ],
    }


def _place(x: int, y: int, w: int, h: int) -> dict[str, int]:
    return {"x": x, "y": y, "w": w, "h": h}


def _source() -> dict[str, str]:
    return {"type": "prometheus", "uid": "${datasource}"}
