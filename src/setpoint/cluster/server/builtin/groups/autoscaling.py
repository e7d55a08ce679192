"""HorizontalPodAutoscalers in their second version: defaults, and what must hold of one.

https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from setpoint.cluster.server import names
from setpoint.cluster.server.builtin.behaviour import Behaviour, Json, Object
from setpoint.cluster.server.builtin.counts import all_not_negative
from setpoint.cluster.server.builtin.resource_names import container_resource
from setpoint.cluster.server.schema.causes import FieldError, forbidden, invalid, not_supported, required
from setpoint.objects import Quantity

_POPULATE = "must populate information for the given metric source"
_SELECT = ("Disabled", "Max", "Min")
_POLICIES = ("Percent", "Pods")
_MOST_PERIOD, _MOST_WINDOW = 1800, 3600


def default(obj: Json) -> None:
    """An autoscaler with its defaults: where it measures nothing it measures the CPU."""
    spec = obj["spec"]
    spec.setdefault("minReplicas", 1)
    if not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": 80}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    behaviour = spec.get("behavior")
    if behaviour is not None:
        up = {"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": [_policy("Pods", 4), _policy("Percent", 100)]}
        down = {"selectPolicy": "Max", "policies": [_policy("Percent", 100)]}
        behaviour["scaleUp"] = {**up, **(behaviour.get("scaleUp") or {})}
        behaviour["scaleDown"] = {**down, **(behaviour.get("scaleDown") or {})}


def _policy(kind: str, value: int) -> Json:
    return {"type": kind, "value": value, "periodSeconds": 15}


def validate(new: Object, old: Object | None) -> Iterator[FieldError]:
    """What is wrong with an autoscaler, or with its change."""
    spec, before = new.get("spec") or {}, (old or {}).get("spec") or {}
    least, most = spec.get("minReplicas"), spec.get("maxReplicas", 0)
    if least is not None and most < least:
        yield invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`")
    target, was = spec.get("scaleTargetRef") or {}, before.get("scaleTargetRef") or {}
    known = old is not None and all(target.get(key) == was.get(key) for key in ("apiVersion", "kind"))
    yield from _reference(target, "spec.scaleTargetRef", any_version=known, core=target.get("kind") == "ReplicationController")
    metrics = spec.get("metrics") or []
    lenient = any(_bad_version((metric.get("object") or {}).get("describedObject") or {}) for metric in before.get("metrics") or [])
    for index, metric in enumerate(metrics):
        yield from _metric(metric, f"spec.metrics[{index}]", any_version=lenient)
    if least == 0 and not any(metric.get("type") in ("Object", "External") for metric in metrics):
        yield forbidden("spec.metrics", "must specify at least one Object or External metric to support scaling to zero replicas")
    for name, rules in ((name, (spec.get("behavior") or {}).get(name)) for name in ("scaleUp", "scaleDown")):
        if rules is not None:
            yield from _rules(rules, f"spec.behavior.{name}")
    if least is not None and least < 0:
        yield invalid("spec.minReplicas", least, "must be greater than or equal to 0")
    if most == 0:
        yield required("spec.maxReplicas")
    elif most < 0:
        yield invalid("spec.maxReplicas", most, "must be greater than or equal to 1")


def _reference(reference: Object, at: str, *, any_version: bool, core: bool) -> Iterator[FieldError]:
    for name in ("kind", "name"):
        if value := reference.get(name):
            yield from (invalid(f"{at}.{name}", value, problem) for problem in names.path_segment(value))
        else:
            yield required(f"{at}.{name}")
    version = reference.get("apiVersion", "")
    if any_version:
        return
    if version.count("/") > 1:
        yield invalid(f"{at}.apiVersion", version, f"unexpected GroupVersion string: {version}")
    elif not core and not version.rpartition("/")[0]:
        yield invalid(f"{at}.apiVersion", version, "apiVersion must specify API group")


def _bad_version(reference: Object) -> bool:
    return str(reference.get("apiVersion", "")).count("/") > 1


def _metric(metric: Object, at: str, *, any_version: bool) -> Iterator[FieldError]:
    kind = metric.get("type", "")
    if not kind:
        yield required(f"{at}.type", "must specify a metric source type")
    if kind not in _KINDS:
        yield not_supported(f"{at}.type", kind, sorted(_KINDS))
    present = [name for name in ("object", *_SOURCES) if name in metric]
    for name in present[:1]:
        if name == "object":
            yield from _object(metric[name], f"{at}.{name}", any_version=any_version)
        else:
            yield from _SOURCES[name](metric[name], f"{at}.{name}")
    expected = _KINDS.get(kind, "")
    if expected and expected not in metric:
        yield required(f"{at}.{expected}", _POPULATE)
    if len(present) > 1:
        yield from (forbidden(f"{at}.{name}", "must populate the given metric source only") for name in present if name != expected)


def _identifier(source: Object, at: str) -> Iterator[FieldError]:
    name = (source.get("metric") or {}).get("name", "")
    if not name:
        yield required(f"{at}.metric.name", "must specify a metric name")
    yield from (invalid(f"{at}.metric.name", name, problem) for problem in names.path_segment(name))


def _target(target: Object, at: str) -> Iterator[FieldError]:
    kind = target.get("type", "")
    if not kind:
        yield required(f"{at}.type", "must specify a metric target type")
    if kind not in ("Utilization", "Value", "AverageValue"):
        yield invalid(f"{at}.type", kind, "must be either Utilization, Value, or AverageValue")
    for name in ("value", "averageValue"):
        if name in target and Quantity(target[name]) <= 0:
            yield invalid(f"{at}.{name}", target[name], "must be positive")
    if target.get("averageUtilization", 1) < 1:
        yield invalid(f"{at}.averageUtilization", target["averageUtilization"], "must be greater than 0")


def _object(source: Object, at: str, *, any_version: bool) -> Iterator[FieldError]:
    yield from _reference(source.get("describedObject") or {}, f"{at}.describedObject", any_version=any_version, core=True)
    yield from _identifier(source, at)
    target = source.get("target") or {}
    yield from _target(target, f"{at}.target")
    if "value" not in target and "averageValue" not in target:
        yield required(f"{at}.target.averageValue", "must set either a target value or averageValue")


def _external(source: Object, at: str) -> Iterator[FieldError]:
    yield from _identifier(source, at)
    target = source.get("target") or {}
    yield from _target(target, f"{at}.target")
    if "value" not in target and "averageValue" not in target:
        yield required(f"{at}.target.averageValue", "must set either a target value for metric or a per-pod target")
    if "value" in target and "averageValue" in target:
        yield forbidden(f"{at}.target.value", "may not set both a target value for metric and a per-pod target")


def _pods(source: Object, at: str) -> Iterator[FieldError]:
    yield from _identifier(source, at)
    target = source.get("target") or {}
    yield from _target(target, f"{at}.target")
    if "averageValue" not in target:
        yield required(f"{at}.target.averageValue", "must specify a positive target averageValue")


def _resource(source: Object, at: str) -> Iterator[FieldError]:
    if not source.get("name"):
        yield required(f"{at}.name", "must specify a resource name")
    yield from _usage(source.get("target") or {}, f"{at}.target")


def _container_resource(source: Object, at: str) -> Iterator[FieldError]:
    name, container = source.get("name", ""), source.get("container", "")
    if name:
        yield from container_resource(name, f"{at}.name")
    else:
        yield required(f"{at}.name", "must specify a resource name")
    if container:
        yield from (invalid(f"{at}.container", container, problem) for problem in names.dns_label(container))
    else:
        yield required(f"{at}.container", "must specify a container")
    yield from _usage(source.get("target") or {}, f"{at}.target")


def _usage(target: Object, at: str) -> Iterator[FieldError]:
    yield from _target(target, at)
    if "averageUtilization" not in target and "averageValue" not in target:
        yield required(f"{at}.averageUtilization", "must set either a target raw value or a target utilization")
    if "averageUtilization" in target and "averageValue" in target:
        yield forbidden(f"{at}.averageValue", "may not set both a target raw value and a target utilization")


_SOURCES: dict[str, Callable[[Any, str], Iterator[FieldError]]] = {
    "external": _external,
    "pods": _pods,
    "resource": _resource,
    "containerResource": _container_resource,
}
_KINDS = {
    "Object": "object",
    "External": "external",
    "Pods": "pods",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}


def _rules(rules: Object, at: str) -> Iterator[FieldError]:
    window, select = rules.get("stabilizationWindowSeconds", 0), rules.get("selectPolicy")
    if window < 0:
        yield invalid(f"{at}.stabilizationWindowSeconds", window, "must be greater than or equal to zero")
    if window > _MOST_WINDOW:
        yield invalid(f"{at}.stabilizationWindowSeconds", window, f"must be less than or equal to {_MOST_WINDOW}")
    if select is not None and select not in _SELECT:
        yield not_supported(f"{at}.selectPolicy", select, _SELECT)
    policies = rules.get("policies") or []
    if not policies:
        yield required(f"{at}.policies", "must specify at least one Policy")
    for index, policy in enumerate(policies):
        here, value, period = f"{at}.policies[{index}]", policy.get("value", 0), policy.get("periodSeconds", 0)
        if policy.get("type") not in _POLICIES:
            yield not_supported(f"{here}.type", policy.get("type", ""), _POLICIES)
        if value <= 0:
            yield invalid(f"{here}.value", value, "must be greater than zero")
        if period <= 0:
            yield invalid(f"{here}.periodSeconds", period, "must be greater than zero")
        if period > _MOST_PERIOD:
            yield invalid(f"{here}.periodSeconds", period, f"must be less than or equal to {_MOST_PERIOD}")
    if "tolerance" in rules and Quantity(rules["tolerance"]) < 0:
        yield invalid(f"{at}.tolerance", rules["tolerance"], "must be greater than or equal to 0")


def validate_status(new: Object, old: Object) -> Iterator[FieldError]:
    """What is wrong with a status."""
    status = new.get("status") or {}
    for index, condition in enumerate(status.get("conditions") or []):
        yield from all_not_negative(condition, ("observedGeneration",), f"status.conditions[{index}]")
    yield from all_not_negative(status, ("currentReplicas", "desiredReplicas"), "status")


BEHAVIOURS = {
    "HorizontalPodAutoscaler": Behaviour(
        support="full", defaults=default, validate=validate, validate_status=validate_status, generation=True
    ),
}
