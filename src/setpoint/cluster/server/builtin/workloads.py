"""What deployments and replica sets must obey: a selector that fits the template, a sound template, sound numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from setpoint.cluster.server.schema.causes import FieldError, forbidden, invalid, required
from setpoint.cluster.server.schema.gotext import as_json

from .counts import all_not_negative, at_most, at_most_all, count_or_percent, is_zero, not_decremented, not_negative
from .immutable import unchanged
from .label_selectors import selector_problems
from .selectors import invalid_selector, readable, selects_everything, shown
from .templates import not_taken, runs_for_ever, template_of, validate_template

Json = Mapping[str, Any]

_DEPLOYMENT_COUNTS = (
    "observedGeneration",
    "replicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "unavailableReplicas",
    "terminatingReplicas",
    "collisionCount",
)
_REPLICA_SET_COUNTS = (
    "replicas",
    "fullyLabeledReplicas",
    "readyReplicas",
    "availableReplicas",
    "observedGeneration",
    "terminatingReplicas",
)


def validate_deployment(new: Json, old: Json | None) -> Iterator[FieldError]:
    """What is wrong with a deployment that has its defaults, or with its change."""
    spec = new.get("spec") or {}
    yield from not_negative(spec, "replicas", "spec")
    yield from _selector_and_template(spec)
    yield from _strategy(spec.get("strategy") or {})
    yield from all_not_negative(spec, ("minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"), "spec")
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is not None and deadline <= spec.get("minReadySeconds", 0):
        yield invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")
    if old is not None:
        yield from _same_selector(spec, old)


def validate_deployment_status(new: Json, old: Json) -> Iterator[FieldError]:
    """What is wrong with the status of a deployment, or with its change."""
    status = new.get("status") or {}
    yield from all_not_negative(status, _DEPLOYMENT_COUNTS, "status")
    yield from at_most(status, ("updatedReplicas", "readyReplicas", "availableReplicas"), "replicas", "status")
    yield from at_most(status, ("availableReplicas",), "readyReplicas", "status", "readyReplicas")
    yield from not_decremented(status, old.get("status") or {}, "collisionCount", "status")


def validate_replica_set(new: Json, old: Json | None) -> Iterator[FieldError]:
    """What is wrong with a replica set that has its defaults, or with its change."""
    spec = new.get("spec") or {}
    yield from all_not_negative(spec, ("replicas", "minReadySeconds"), "spec")
    yield from _selector_and_template(spec)
    if old is not None:
        yield from _same_selector(spec, old)


def validate_replica_set_status(new: Json, old: Json) -> Iterator[FieldError]:
    """What is wrong with the status of a replica set."""
    status = new.get("status") or {}
    yield from all_not_negative(status, _REPLICA_SET_COUNTS, "status")
    yield from at_most(status, ("fullyLabeledReplicas", "readyReplicas", "availableReplicas"), "replicas", "status")
    yield from at_most(status, ("availableReplicas",), "readyReplicas", "status", "readyReplicas")


def _same_selector(spec: Json, old: Json) -> Iterator[FieldError]:
    yield from unchanged(spec, old.get("spec") or {}, ("selector",), shown={"selector": shown})


def _selector_and_template(spec: Json) -> Iterator[FieldError]:
    selector, template = spec.get("selector"), template_of(spec)
    if selector is None:
        yield required("spec.selector")
    yield from selector_problems(selector or {}, "spec.selector")
    if selects_everything(selector):
        # The server says so of replica sets as well.
        yield invalid_selector("spec.selector", selector, "empty selector is invalid for deployment")
    if not readable(selector):
        yield invalid_selector("spec.selector", selector, "invalid label selector")
        return
    yield from not_taken(selector, template, "spec.template")
    yield from validate_template(template, "spec.template")
    yield from runs_for_ever(template, "ReplicaSet", "spec.template")


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
        unavailable, surge = (as_json((rolling or {}).get(name, 0)) for name in ("maxUnavailable", "maxSurge"))
        printed = "null" if rolling is None else f'{{"MaxUnavailable":{unavailable},"MaxSurge":{surge}}}'
        message = f'Unsupported value: {{"Type":{as_json(kind)},"RollingUpdate":{printed}}}: supported values: "Recreate", "RollingUpdate"'
        yield FieldError("FieldValueNotSupported", message, at)


def _rolling_update(rolling: Json, at: str) -> Iterator[FieldError]:
    unavailable, surge = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
    yield from count_or_percent(unavailable, f"{at}.maxUnavailable")
    yield from count_or_percent(surge, f"{at}.maxSurge")
    if is_zero(unavailable) and is_zero(surge):
        yield invalid(f"{at}.maxUnavailable", unavailable, "may not be 0 when `maxSurge` is 0")
    yield from at_most_all(unavailable, f"{at}.maxUnavailable")
