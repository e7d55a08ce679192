"""What deployments and replica sets must obey: a selector that fits the template, a sound template, sound numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from setpoint.cluster.server import names
from setpoint.cluster.server.schema.causes import FieldError, forbidden, invalid, not_supported, required
from setpoint.cluster.server.schema.gotext import as_json

from .pods import validate_pod_spec

Json = Mapping[str, Any]

_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
_NOT_NEGATIVE = "must be greater than or equal to 0"
_PERCENT = re.compile("[0-9]+%")
_PERCENT_TEXT = (
    "a valid percent string must be a numeric string followed by an ending '%' "
    "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
)


def validate_deployment(new: Json, old: Json | None) -> Iterator[FieldError]:
    """What is wrong with a deployment that has its defaults, or with its change."""
    spec = new.get("spec") or {}
    yield from _not_negative(spec, "replicas")
    yield from _selector_and_template(spec, "deployment")
    yield from _strategy(spec.get("strategy") or {})
    yield from _not_negative(spec, "minReadySeconds")
    yield from _not_negative(spec, "revisionHistoryLimit")
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is not None:
        yield from _not_negative(spec, "progressDeadlineSeconds")
        if deadline <= spec.get("minReadySeconds", 0):
            yield invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")
    if old is not None:
        yield from _same_selector(spec, old)


def validate_replica_set(new: Json, old: Json | None) -> Iterator[FieldError]:
    """What is wrong with a replica set that has its defaults, or with its change."""
    spec = new.get("spec") or {}
    yield from _not_negative(spec, "replicas")
    yield from _not_negative(spec, "minReadySeconds")
    yield from _selector_and_template(spec, "deployment")
    if old is not None:
        yield from _same_selector(spec, old)


def _same_selector(spec: Json, old: Json) -> Iterator[FieldError]:
    if spec.get("selector") != (old.get("spec") or {}).get("selector"):
        yield FieldError("FieldValueInvalid", f"Invalid value: {_shown(spec.get('selector'))}: field is immutable", "spec.selector")


def _not_negative(spec: Json, name: str) -> Iterator[FieldError]:
    if spec.get(name, 0) < 0:
        yield invalid(f"spec.{name}", spec[name], _NOT_NEGATIVE)


def _selector_and_template(spec: Json, what: str) -> Iterator[FieldError]:
    selector = spec.get("selector")
    template = spec.get("template") or {}
    labels = (template.get("metadata") or {}).get("labels")
    broken = False
    if selector is None:
        yield required("spec.selector")
    else:
        problems = list(_selector(selector, "spec.selector"))
        broken = any("operator" in problem.field or "values" in problem.field or ".key" in problem.field for problem in problems)
        yield from problems
        if not selector.get("matchLabels") and not selector.get("matchExpressions"):
            yield invalid("spec.selector", selector, f"empty selector is invalid for {what}")
    if broken:
        yield FieldError("FieldValueInvalid", f"Invalid value: {_shown(selector)}: invalid label selector", "spec.selector")
        return
    if selector is None or not _matches(selector, labels or {}):
        yield invalid("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")
    yield from _template(template)


def _template(template: Json) -> Iterator[FieldError]:
    metadata, spec = template.get("metadata") or {}, template.get("spec") or {}
    # The server leaves `metadata` out of these two paths.
    for key, value in (metadata.get("labels") or {}).items():
        yield from (invalid("spec.template.labels", key, problem) for problem in names.label_key(key))
        yield from (invalid("spec.template.labels", value, problem) for problem in names.label_value(value))
    for key in metadata.get("annotations") or {}:
        yield from (invalid("spec.template.annotations", key, problem) for problem in names.label_key(key.lower()))
    yield from validate_pod_spec(spec, "spec.template.spec")
    policy = spec.get("restartPolicy", "Always")
    if policy in ("OnFailure", "Never"):
        yield not_supported("spec.template.spec.restartPolicy", policy, ("Always",))
    if spec.get("activeDeadlineSeconds") is not None:
        yield forbidden("spec.template.spec.activeDeadlineSeconds", "activeDeadlineSeconds in ReplicaSet is not Supported")


def _selector(selector: Json, at: str) -> Iterator[FieldError]:
    for key, value in (selector.get("matchLabels") or {}).items():
        yield from (invalid(f"{at}.matchLabels", key, problem) for problem in names.label_key(key))
        yield from (invalid(f"{at}.matchLabels", value, problem) for problem in names.label_value(value))
    for index, expression in enumerate(selector.get("matchExpressions") or []):
        here = f"{at}.matchExpressions[{index}]"
        operator, values = expression.get("operator", ""), expression.get("values") or []
        if operator not in _OPERATORS:
            yield invalid(f"{here}.operator", operator, "not a valid selector operator")
        elif operator in ("In", "NotIn"):
            if not values:
                yield required(f"{here}.values", "must be specified when `operator` is 'In' or 'NotIn'")
        elif values:
            yield forbidden(f"{here}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
        key = expression.get("key", "")
        yield from (invalid(f"{here}.key", key, problem) for problem in names.label_key(key))


def _shown(selector: Any) -> str:
    """A selector as Go prints it: labels first."""
    if not isinstance(selector, dict):
        return as_json(selector)
    parts = [f'"{key}":{as_json(selector[key])}' for key in ("matchLabels", "matchExpressions") if selector.get(key)]
    return "{" + ",".join(parts) + "}"


def _matches(selector: Json, labels: Json) -> bool:
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    for expression in selector.get("matchExpressions") or []:
        key, values = expression["key"], expression.get("values") or []
        present = key in labels
        met = {
            "In": present and labels.get(key) in values,
            "NotIn": not present or labels.get(key) not in values,
            "Exists": present,
            "DoesNotExist": not present,
        }
        if not met[expression["operator"]]:
            return False
    return True


def _strategy(strategy: Json) -> Iterator[FieldError]:
    at = "spec.strategy"
    kind, rolling = strategy.get("type"), strategy.get("rollingUpdate")
    if kind == "Recreate":
        if rolling is not None:
            yield forbidden(f"{at}.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'")
    elif kind == "RollingUpdate":
        yield from _rolling_update(rolling or {}, f"{at}.rollingUpdate")
    else:
        # Here the server prints its own struct.
        shown = as_json({"Type": kind}).removesuffix("}") + f',"RollingUpdate":{as_json(rolling)}' + "}"
        message = f'Unsupported value: {shown}: supported values: "Recreate", "RollingUpdate"'
        yield FieldError("FieldValueNotSupported", message, at)


def _rolling_update(rolling: Json, at: str) -> Iterator[FieldError]:
    unavailable, surge = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
    problems = {name: _count_problem(rolling.get(name, 0)) for name in ("maxUnavailable", "maxSurge")}
    for name, problem in problems.items():
        if problem:
            yield invalid(f"{at}.{name}", rolling.get(name), problem)
    if _is_zero(unavailable) and _is_zero(surge):
        yield invalid(f"{at}.maxUnavailable", unavailable, "may not be 0 when `maxSurge` is 0")
    if not problems["maxUnavailable"] and isinstance(unavailable, str) and int(unavailable.removesuffix("%")) > 100:
        yield invalid(f"{at}.maxUnavailable", unavailable, "must not be greater than 100%")


def _count_problem(value: object) -> str:
    """What is wrong with a count or percentage, or nothing."""
    if isinstance(value, str):
        return "" if _PERCENT.fullmatch(value) else _PERCENT_TEXT
    return _NOT_NEGATIVE if isinstance(value, int) and value < 0 else ""


def _is_zero(value: object) -> bool:
    return value == 0 or (isinstance(value, str) and value.removesuffix("%").strip("0") == "" and value.endswith("%"))
