"""Dashboard and alerts ask for nothing that is not exposed, and are what Grafana and the Prometheus operator take."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest

from setpoint.manager.metrics.alerts import ALERTS, prometheus_rule
from setpoint.manager.metrics.dashboard import dashboard

from .promql import asked, labels_left, template_labels
from .scrapes import full, names, parsed

TARGET = ["namespace", "job", "pod", "instance"]
"""Labels that Prometheus gives to what it scrapes."""
NOT_SHOWN = (
    "max_fds",
    "virtual_memory",
    "start_time",
    "python_info",
    "python_gc_objects",
    "_size_bytes",
    "rate_limiter",
    "request_retries",
)
COUNTED = ("rate", "increase", "irate")


def panels() -> list[dict[str, Any]]:
    return [panel for panel in dashboard()["panels"] if panel["type"] != "row"]


def queries() -> list[str]:
    return [target["expr"] for panel in panels() for target in panel["targets"]]


def rules() -> list[dict[str, Any]]:
    (group,) = prometheus_rule()["spec"]["groups"]
    rules: list[dict[str, Any]] = group["rules"]
    return rules


EXPRESSIONS = [*queries(), *(rule["expr"] for rule in rules())]


@pytest.mark.parametrize("expr", EXPRESSIONS)
def test_every_name_and_label_is_exposed(expr: str) -> None:
    exposed = names(full())
    found = asked(expr)
    assert found
    for selector in found:
        assert selector.name in exposed, f"{selector.name} is not exposed"
        known = [*exposed[selector.name].labels, *TARGET]
        assert not [label for label in (*selector.matched, *selector.grouped) if label not in known], f"{selector} has labels {known}"


@pytest.mark.parametrize("expr", EXPRESSIONS)
def test_counters_are_rated_and_gauges_are_not(expr: str) -> None:
    exposed = names(full())
    for selector in asked(expr):
        counter = exposed[selector.name].type in ("counter", "histogram")
        assert (selector.function in COUNTED) == counter, f"{selector.function}({selector.name})"


@pytest.mark.parametrize("expr", EXPRESSIONS)
def test_quantiles_keep_their_buckets_and_windows_hold_some_scrapes(expr: str) -> None:
    for selector in asked(expr):
        if selector.name.endswith("_bucket"):
            assert "le" in selector.grouped
            assert "histogram_quantile" in expr
        if selector.window is not None:
            assert timedelta(minutes=4) <= selector.window <= timedelta(hours=1)


def test_what_is_asked_is_understood_and_what_is_wrong_is_found() -> None:
    with pytest.raises(ValueError, match=r"."):
        asked("sum(rate(a[5m])")
    (found,) = asked('sum by (le, x) (rate(a_bucket{b=~"$b"}[$__rate_interval]))')
    assert (found.name, found.matched, found.function, found.window) == ("a_bucket", ["b"], "rate", timedelta(minutes=5))
    assert found.grouped == ["le", "x"]
    with pytest.raises(AssertionError, match="not exposed"):
        test_every_name_and_label_is_exposed("go_goroutines")
    with pytest.raises(AssertionError, match="has labels"):
        test_every_name_and_label_is_exposed('workqueue_depth{worker="x"}')


def test_every_metric_is_on_the_dashboard_but_those_nobody_looks_at() -> None:
    shown = {selector.name.removesuffix("_bucket").removesuffix("_count") for expr in queries() for selector in asked(expr)}
    missing = [name for name in parsed(full()) if name not in shown and not any(part in name for part in NOT_SHOWN)]
    assert [name for name in missing if not name.startswith("setpoint_")] == []


def test_the_dashboard_is_one_that_grafana_takes() -> None:
    model = json.loads(json.dumps(dashboard()))
    ids = [panel["id"] for panel in model["panels"]]
    assert len(set(ids)) == len(ids)
    taken: set[tuple[int, int]] = set()
    for panel in model["panels"]:
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & taken, f"{panel['title']} lies over another"
        taken |= cells
        assert place["x"] + place["w"] <= 24
    variables = {variable["name"] for variable in model["templating"]["list"]}
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(model["panels"])))
    assert used - {"__rate_interval"} <= variables
    for variable in model["templating"]["list"][1:]:
        metric = re.match(r"label_values\((\w+)", variable["definition"])
        assert metric is not None
        assert metric[1] in names(full())
    for panel in panels():
        assert panel["description"].endswith(".")
        for target in panel["targets"]:
            grouped = {label for selector in asked(target["expr"]) for label in selector.grouped}
            shown = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
            assert not grouped or shown <= grouped, f"{target['legendFormat']} shows what {target['expr']} does not have"


def test_the_rule_is_one_that_the_operator_takes() -> None:
    rule = prometheus_rule("shop", "monitoring")
    assert (rule["apiVersion"], rule["kind"]) == ("monitoring.coreos.com/v1", "PrometheusRule")
    assert rule["metadata"]["namespace"] == "monitoring"
    assert list(rule["spec"]) == ["groups"]
    for entry in rules():
        assert list(entry) == ["alert", "expr", "for", "labels", "annotations"]
        assert re.fullmatch(r"Setpoint[A-Za-z]+", entry["alert"])
        assert re.fullmatch(r"\d+[smh]", entry["for"])
        assert entry["labels"]["severity"] in ("warning", "critical")
        assert set(entry["annotations"]) == {"summary", "description"}
    assert len({alert.name for alert in ALERTS}) == len(ALERTS)


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule["alert"])
def test_what_an_alert_says_has_the_labels_of_what_it_finds(rule: dict[str, Any]) -> None:
    left = labels_left(rule["expr"])
    assert left is not None, "an alert groups, so that it is one for each thing"
    for text in rule["annotations"].values():
        assert template_labels(text) <= left
        assert text.count("{{") == text.count("}}")


def test_there_is_an_alert_for_each_thing_that_somebody_has_to_look_at() -> None:
    about = " ".join(selector.name for alert in ALERTS for selector in asked(alert.expr))
    for metric in (
        "controller_runtime_reconcile_errors_total",
        "workqueue_depth",
        "leader_election_master_status",
        "controller_runtime_active_workers",
        "setpoint_cache_age_seconds",
        "setpoint_reconcile_loops_total",
        "setpoint_thread_pool_waiting",
    ):
        assert metric in about
