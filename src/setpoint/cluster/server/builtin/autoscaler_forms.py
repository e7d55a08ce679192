"""The two forms of a HorizontalPodAutoscaler. It is kept in that of autoscaling/v2; v1 shows one number of it, and the rest in annotations.

https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/horizontal-pod-autoscaler-v1/
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from setpoint.cluster.server.builtin.go_types import SPECIAL, GoType, go_type, struct
from setpoint.cluster.server.builtin.structs import as_go_writes

Json = dict[str, Any]

_ANNOTATION = "autoscaling.alpha.kubernetes.io/"
_METRICS, _STATUSES, _BEHAVIOR, _CONDITIONS = (f"{_ANNOTATION}{name}" for name in ("metrics", "current-metrics", "behavior", "conditions"))
_DROPPED = (_METRICS, _STATUSES, _BEHAVIOR, _CONDITIONS, f"{_ANNOTATION}scale-down-tolerance", f"{_ANNOTATION}scale-up-tolerance")
_V1, _V2 = "io.k8s.api.autoscaling.v1", "io.k8s.api.autoscaling.v2"
_SPEC = ("scaleTargetRef", "minReplicas", "maxReplicas")
_STATUS = ("observedGeneration", "lastScaleTime", "currentReplicas", "desiredReplicas")
_RULES = ("stabilizationWindowSeconds", "selectPolicy", "policies", "tolerance")


def to_kept(shown: Mapping[str, Any]) -> Json:
    """An autoscaler of v1 in the form in which it is kept."""
    obj: Json = {**shown}
    metadata: Json = obj.get("metadata") or {}
    annotations: dict[str, str] = metadata.get("annotations") or {}
    given, seen = obj.get("spec"), obj.get("status")
    if isinstance(given, dict):
        spec: Json = _taken(given, _SPEC)
        metrics = [_metric_to_kept(metric) for metric in _listed(annotations, _METRICS)]
        if (percent := given.get("targetCPUUtilizationPercentage")) is not None:
            metrics.append(_cpu(percent))
        spec["metrics"] = metrics or [_cpu(80)]
        behavior = _read(annotations, _BEHAVIOR)
        if isinstance(behavior, dict) and (rules := _uncapitalized(behavior)):
            spec["behavior"] = rules
        obj["spec"] = as_go_writes(f"{_V2}.HorizontalPodAutoscalerSpec", spec)
    if isinstance(seen, dict):
        status: Json = _taken(seen, _STATUS)
        if (percent := seen.get("currentCPUUtilizationPercentage")) is not None:
            current = {"averageUtilization": percent}
            status["currentMetrics"] = [{"type": "Resource", "resource": {"name": "cpu", "current": current}}]
        if statuses := [_status_to_kept(metric) for metric in _listed(annotations, _STATUSES)]:
            status["currentMetrics"] = statuses
        if conditions := list(_listed(annotations, _CONDITIONS)):
            status["conditions"] = conditions
        obj["status"] = as_go_writes(f"{_V2}.HorizontalPodAutoscalerStatus", status)
    return {**obj, **({"metadata": _annotated(metadata, {})} if "metadata" in obj else {})}


def to_shown(kept: Mapping[str, Any]) -> Json:
    """The inverse of `to_kept`."""
    obj: Json = {**kept}
    said: dict[str, str] = {}
    given, seen = obj.get("spec"), obj.get("status")
    if isinstance(given, dict):
        spec: Json = _taken(given, _SPEC)
        metrics: list[Json] = given.get("metrics") or []
        if cpu := [metric for metric in metrics if _is_cpu(metric)]:
            spec["targetCPUUtilizationPercentage"] = cpu[0]["resource"]["target"]["averageUtilization"]
        if others := [_metric_to_shown(metric) for metric in metrics if not _is_cpu(metric)]:
            said[_METRICS] = _text("MetricSpec", others)
        if given.get("behavior"):
            said[_BEHAVIOR] = msgspec.json.encode(_capitalized(given["behavior"])).decode()
        obj["spec"] = as_go_writes(f"{_V1}.HorizontalPodAutoscalerSpec", spec)
    if isinstance(seen, dict):
        status: Json = _taken(seen, _STATUS)
        statuses: list[Json] = seen.get("currentMetrics") or []
        for metric in statuses:
            current = (metric.get("resource") or {}).get("current") or {}
            if metric.get("type") == "Resource" and metric["resource"].get("name") == "cpu" and "averageUtilization" in current:
                status["currentCPUUtilizationPercentage"] = current["averageUtilization"]
        if statuses:
            said[_STATUSES] = _text("MetricStatus", [_status_to_shown(metric) for metric in statuses])
        if seen.get("conditions"):
            said[_CONDITIONS] = _text("HorizontalPodAutoscalerCondition", seen["conditions"])
        obj["status"] = as_go_writes(f"{_V1}.HorizontalPodAutoscalerStatus", status)
    return {**obj, **({"metadata": _annotated(obj["metadata"], said)} if "metadata" in obj else {})}


def _annotated(metadata: Json, said: dict[str, str]) -> Json:
    """The metadata with these annotations in the place of those that stand for something."""
    kept = {key: value for key, value in (metadata.get("annotations") or {}).items() if key not in _DROPPED}
    if annotations := {**kept, **said}:
        return {**metadata, "annotations": annotations}
    return {key: value for key, value in metadata.items() if key != "annotations"}


def _taken(obj: Json, keys: Iterable[str]) -> Json:
    return {key: obj[key] for key in keys if key in obj}


def _read(annotations: dict[str, str], name: str) -> Any:
    """What an annotation holds; nothing if it holds no JSON, as on a real server."""
    try:
        return msgspec.json.decode(annotations.get(name, "null"))
    except (msgspec.DecodeError, RecursionError):
        return None


def _listed(annotations: dict[str, str], name: str) -> Iterable[Json]:
    found = _read(annotations, name)
    return (item for item in found if isinstance(item, dict)) if isinstance(found, list) else ()


def _cpu(percent: int) -> Json:
    target = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def _is_cpu(metric: Json) -> bool:
    resource = metric.get("resource") or {}
    is_cpu = metric.get("type") == "Resource" and resource.get("name") == "cpu"
    return is_cpu and (resource.get("target") or {}).get("averageUtilization") is not None


# ---- metrics: the same facts under other names

_NAMED: dict[str, dict[str, tuple[str, ...]]] = {
    "resource": {},
    "containerResource": {},
    "pods": {"metricName": ("metric", "name"), "selector": ("metric", "selector")},
    "object": {"metricName": ("metric", "name"), "selector": ("metric", "selector"), "target": ("describedObject",)},
    "external": {"metricName": ("metric", "name"), "metricSelector": ("metric", "selector")},
}
"""For each source what v1 calls otherwise, and where v2 has it."""
_AMOUNTS = {
    "resource": {"AverageUtilization": "averageUtilization", "AverageValue": "averageValue"},
    "containerResource": {"AverageUtilization": "averageUtilization", "AverageValue": "averageValue"},
    "pods": {"AverageValue": "averageValue"},
    "object": {"Value": "value", "averageValue": "averageValue"},
    "external": {"Value": "value", "AverageValue": "averageValue"},
}
"""For each source its amounts: in v1 behind `target` or `current`, in v2 in an object of that name."""


def _metric_to_kept(metric: Json) -> Json:
    result: Json = {"type": metric.get("type", "")}
    for source, target in _sources(metric):
        found = _source_to_kept(source, target, "target")
        amounts = found.setdefault("target", {})
        if source == "object" and "averageValue" in amounts and str(amounts.get("value")) == "0":
            del amounts["value"]
        if "averageUtilization" in amounts:
            amounts["type"] = "Utilization"
        else:
            # Of an external metric with both amounts the value decides, of one of an object the average.
            average = "averageValue" in amounts if source == "object" else "value" not in amounts
            amounts["type"] = "AverageValue" if average else "Value"
        result[source] = found
    return result


def _status_to_kept(metric: Json) -> Json:
    found = {source: _source_to_kept(source, current, "current") for source, current in _sources(metric)}
    return {"type": metric.get("type", ""), **found}


def _metric_to_shown(metric: Json) -> Json:
    found = {source: _source_to_shown(source, target, "target") for source, target in _sources(metric)}
    return {"type": metric.get("type", ""), **found}


def _status_to_shown(metric: Json) -> Json:
    found = {source: _source_to_shown(source, current, "current") for source, current in _sources(metric)}
    return {"type": metric.get("type", ""), **found}


def _sources(metric: Json) -> Iterable[tuple[str, Json]]:
    return ((name, metric[name]) for name in _NAMED if isinstance(metric.get(name), dict))


def _source_to_kept(source: str, shown: Json, amounts: str) -> Json:
    result = _taken(shown, ("name", "container"))
    for name, (first, *rest) in _NAMED[source].items():
        if name in shown:
            if rest:
                result.setdefault(first, {})[rest[0]] = shown[name]
            else:
                result[first] = shown[name]
    for name, kept in _AMOUNTS[source].items():
        called = name if name[0].islower() else amounts + name
        if called in shown:
            result.setdefault(amounts, {})[kept] = shown[called]
    return result


def _source_to_shown(source: str, kept: Json, amounts: str) -> Json:
    result = _taken(kept, ("name", "container"))
    for name, (first, *rest) in _NAMED[source].items():
        value = kept.get(first)
        if rest and isinstance(value, dict):
            value = value.get(rest[0])
        if value is not None:
            result[name] = value
    for name, called in _AMOUNTS[source].items():
        if called in (kept.get(amounts) or {}):
            result[name if name[0].islower() else amounts + name] = kept[amounts][called]
    return result


# ---- texts


def _text(name: str, items: list[Json]) -> str:
    """Structs of v1 as Go writes them, fields in their order."""
    about = f"{_V1}.{name}"
    return msgspec.json.encode([_in_order(go_type(about), as_go_writes(about, item)) for item in items]).decode()


def _in_order(type_: GoType, value: Any) -> Any:
    if type_.shape == "struct" and type_.name not in SPECIAL and isinstance(value, dict):
        fields = struct(type_.name).fields
        return {key: _in_order(fields[key].type, value[key]) for key in fields if key in value}
    if type_.shape == "list" and isinstance(value, list):
        return [_in_order(go_type(type_.name), item) for item in value]
    return value


def _capitalized(behavior: Json) -> Json:
    """The scaling rules as a struct of the server's own, whose fields have no names for JSON."""
    return {name[0].upper() + name[1:]: _capital_rules(behavior.get(name)) for name in ("scaleUp", "scaleDown")}


def _capital_rules(rules: Json | None) -> Json | None:
    if rules is None:
        return None
    found: Json = {name[0].upper() + name[1:]: rules.get(name) for name in _RULES}
    policies = found["Policies"]
    if policies is not None:
        found["Policies"] = [
            {"Type": policy.get("type", ""), "Value": policy.get("value", 0), "PeriodSeconds": policy.get("periodSeconds", 0)}
            for policy in policies
        ]
    return found


def _uncapitalized(value: Any) -> Any:
    if isinstance(value, dict):
        return {key[:1].lower() + key[1:]: _uncapitalized(item) for key, item in value.items() if item is not None}
    return [_uncapitalized(item) for item in value] if isinstance(value, list) else value
