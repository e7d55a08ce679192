"""What bounds or changes the number of pods: scales, autoscalers and disruption budgets.

https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from setpoint.cluster.server.tables.cells.parts import NONE, UNKNOWN, UNSET, Cells, at_most, name_of, part
from setpoint.cluster.server.tables.tables import Object, age

_SHOWN = 2
"""How many metrics of an autoscaler are shown."""


def _scale(obj: Object, now: datetime) -> list[Any]:
    return [name_of(obj), part(obj, "spec", "replicas") or 0, part(obj, "status", "replicas") or 0, age(obj, now)]


def _autoscaler(obj: Object, now: datetime) -> list[Any]:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    target, least = spec.get("scaleTargetRef") or {}, spec.get("minReplicas")
    return [
        name_of(obj),
        f"{target.get('kind') or ''}/{target.get('name') or ''}",
        _metrics(spec.get("metrics") or (), status.get("currentMetrics") or ()),
        UNSET if least is None else str(least),
        spec.get("maxReplicas") or 0,
        status.get("currentReplicas") or 0,
        age(obj, now),
    ]


def _metrics(wanted: Sequence[Mapping[str, Any]], current: Sequence[Mapping[str, Any]]) -> str:
    """What each metric is and shall be. The current ones are in the order of the wanted ones."""
    texts = [_metric(metric, current[index] if index < len(current) else {}) for index, metric in enumerate(wanted)]
    return at_most(texts, _SHOWN, ", ") or NONE


def _metric(wanted: Mapping[str, Any], current: Mapping[str, Any]) -> str:
    kind = wanted.get("type") or ""
    field = kind[:1].lower() + kind[1:]
    target, now = part(wanted, field, "target") or {}, part(current, field, "current") or {}
    average = target.get("averageValue")
    match kind:
        case "Resource" | "ContainerResource":
            name = part(wanted, field, "name")
            if average is not None:
                return f"{name}: {now.get('averageValue', UNKNOWN)}/{average}"
            return f"{name}: {_percent(now, UNKNOWN)}/{_percent(target, '<auto>')}"
        case "External" | "Object" if average is not None:
            return f"{now.get('averageValue', UNKNOWN)}/{average} (avg)"
        case "External" | "Object":
            return f"{now.get('value', UNKNOWN)}/{target.get('value')}"
        case "Pods":
            return f"{now.get('averageValue', UNKNOWN)}/{average}"
    return "<unknown type>"


def _percent(value: Mapping[str, Any], missing: str) -> str:
    share = value.get("averageUtilization")
    return missing if share is None else f"{share}%"


def _disruption_budget(obj: Object, now: datetime) -> list[Any]:
    spec = obj.get("spec") or {}
    bounds = ["N/A" if spec.get(bound) is None else str(spec[bound]) for bound in ("minAvailable", "maxUnavailable")]
    return [name_of(obj), *bounds, part(obj, "status", "disruptionsAllowed") or 0, age(obj, now)]


CELLS: dict[tuple[str, str], Cells] = {
    ("autoscaling", "scales"): _scale,
    ("autoscaling", "horizontalpodautoscalers"): _autoscaler,
    ("policy", "poddisruptionbudgets"): _disruption_budget,
}
