"""StatefulSets: their defaults, what must hold of one, and the few things of it that may change.

https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from setpoint.cluster.server import names
from setpoint.cluster.server.builtin.behaviour import Behaviour, Json, Object
from setpoint.cluster.server.builtin.claims import validate_claim_spec
from setpoint.cluster.server.builtin.counts import all_not_negative, at_most, at_most_all, count_or_percent, is_zero, not_decremented
from setpoint.cluster.server.builtin.defaults import default_claim_spec, default_template
from setpoint.cluster.server.builtin.go_print import claim_text, refused
from setpoint.cluster.server.builtin.immutable import unchanged
from setpoint.cluster.server.builtin.label_selectors import selector_problems
from setpoint.cluster.server.builtin.selectors import invalid_selector, readable, selects_everything, shown
from setpoint.cluster.server.builtin.templates import not_taken, runs_for_ever, template_of, template_warnings, validate_template
from setpoint.cluster.server.schema.causes import FieldError, invalid, not_supported, required
from setpoint.cluster.server.schema.gotext import as_json

_RETENTION = "persistentVolumeClaimRetentionPolicy"
_FIXED = ("selector", "volumeClaimTemplates", "serviceName", "podManagementPolicy")
_COUNTS = ("replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas", "observedGeneration", "collisionCount")


def default(obj: Json) -> None:
    """A StatefulSet with its defaults."""
    spec = obj.setdefault("spec", {})
    spec.setdefault("podManagementPolicy", "OrderedReady")
    strategy = spec.setdefault("updateStrategy", {})
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
        strategy.setdefault("rollingUpdate", {})
    if strategy["type"] == "RollingUpdate" and "rollingUpdate" in strategy:
        strategy["rollingUpdate"].setdefault("partition", 0)
        strategy["rollingUpdate"].setdefault("maxUnavailable", 1)
    retention = spec.setdefault(_RETENTION, {})
    retention.setdefault("whenDeleted", "Retain")
    retention.setdefault("whenScaled", "Retain")
    spec.setdefault("replicas", 1)
    spec.setdefault("revisionHistoryLimit", 10)
    for claim in spec.get("volumeClaimTemplates") or []:
        claim.setdefault("apiVersion", "v1")
        claim.setdefault("kind", "PersistentVolumeClaim")
        default_claim_spec(claim.setdefault("spec", {}))
        claim.setdefault("status", {}).setdefault("phase", "Pending")
    default_template(spec.get("template"))


def validate(new: Object, old: Object | None) -> Iterator[FieldError]:
    """What is wrong with a StatefulSet, or with its change."""
    spec = new.get("spec") or {}
    yield from _strategy(spec)
    yield from _claims(spec, old)
    yield from all_not_negative(spec, ("replicas", "minReadySeconds"), "spec")
    yield from all_not_negative(spec.get("ordinals") or {}, ("start",), "spec.ordinals")
    if old is None and (name := spec.get("serviceName")):
        yield from (invalid("spec.serviceName", name, problem) for problem in names.dns_label(name))
    yield from _selector_and_template(spec)
    if old is not None:
        yield from unchanged(spec, old.get("spec") or {}, _FIXED, shown={"selector": shown, "volumeClaimTemplates": _shown_claims})


def _strategy(spec: Object) -> Iterator[FieldError]:
    policy, strategy = spec.get("podManagementPolicy"), spec.get("updateStrategy") or {}
    if policy not in ("OrderedReady", "Parallel"):
        yield invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'")
    at, rolling = "spec.updateStrategy", strategy.get("rollingUpdate")
    if strategy.get("type") == "OnDelete":
        if rolling is not None:
            yield refused(f"{at}.rollingUpdate", _go_rolling(rolling), "only allowed for updateStrategy 'RollingUpdate'")
    elif strategy.get("type") == "RollingUpdate":
        yield from _rolling(rolling or {}, f"{at}.rollingUpdate")
    else:
        printed = f'{{"Type":{as_json(strategy.get("type"))},"RollingUpdate":{_go_rolling(rolling)}}}'
        yield refused(at, printed, "must be 'RollingUpdate' or 'OnDelete'")
    retention = spec.get(_RETENTION) or {}
    for name in ("whenDeleted", "whenScaled"):
        if retention.get(name) not in ("Retain", "Delete"):
            yield not_supported(f"spec.{_RETENTION}.{name}", retention.get(name), ("Retain", "Delete"))


def _go_rolling(rolling: Object | None) -> str:
    """As the server prints it, from a struct of its own."""
    if rolling is None:
        return "null"
    return f'{{"Partition":{rolling.get("partition", 0)},"MaxUnavailable":{as_json(rolling.get("maxUnavailable"))}}}'


def _rolling(rolling: Object, at: str) -> Iterator[FieldError]:
    yield from all_not_negative(rolling, ("partition",), at)
    unavailable = rolling.get("maxUnavailable")
    if unavailable is not None:
        yield from count_or_percent(unavailable, f"{at}.maxUnavailable")
        if is_zero(unavailable):
            yield invalid(f"{at}.maxUnavailable", unavailable, "cannot be 0")
        yield from at_most_all(unavailable, f"{at}.maxUnavailable")


def _claims(spec: Object, old: Object | None) -> Iterator[FieldError]:
    if old is None:
        for index, claim in enumerate(spec.get("volumeClaimTemplates") or []):
            yield from validate_claim_spec(claim.get("spec") or {}, f"spec.volumeClaimTemplates[{index}].spec")


def _selector_and_template(spec: Object) -> Iterator[FieldError]:
    selector = spec.get("selector")
    if selector is None:
        yield required("spec.selector")
    yield from selector_problems(selector or {}, "spec.selector")
    if selects_everything(selector):
        yield invalid_selector("spec.selector", selector, "empty selector is invalid for statefulset")
    template = template_of(spec)
    if readable(selector):
        yield from not_taken(selector, template, "spec.template")
        yield from validate_template(_with_claims(template, spec.get("volumeClaimTemplates") or []), "spec.template")
    else:
        yield invalid_selector("spec.selector", selector)
    yield from runs_for_ever(template, "StatefulSet", "spec.template")


def _with_claims(template: Object, claims: list[Any]) -> Object:
    """The template as its pods will be: with a volume for each claim in place of its own of that name, and without names on the network."""
    spec: Json = {key: value for key, value in (template.get("spec") or {}).items() if key not in ("hostname", "subdomain")}
    volumes = {claim["metadata"].get("name", ""): None for claim in claims}
    added = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in volumes]
    if added:
        spec["volumes"] = added + [volume for volume in spec.get("volumes") or [] if volume.get("name") not in volumes]
    return {**template, "spec": spec}


def _shown_claims(claims: list[Object] | None) -> str:
    return "null" if claims is None else "[" + ",".join(map(claim_text, claims)) + "]"


def warnings(new: Object, old: Object | None) -> Iterator[str]:
    """What is odd about a StatefulSet."""
    yield from template_warnings(new, old, named=False)
    if new["spec"].get("revisionHistoryLimit", 0) < 0:
        yield "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"


def validate_status(new: Object, old: Object) -> Iterator[FieldError]:
    """What is wrong with a status."""
    status = new.get("status") or {}
    yield from all_not_negative(status, _COUNTS, "status")
    yield from at_most(status, ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"), "replicas", "status")
    yield from at_most(status, ("availableReplicas",), "readyReplicas", "status")
    yield from not_decremented(status, old.get("status") or {}, "collisionCount", "status")


BEHAVIOURS = {
    "StatefulSet": Behaviour(
        zero_replicas=True,
        support="full",
        defaults=default,
        validate=validate,
        validate_status=validate_status,
        warns=warnings,
        generation=True,
        name_rule=names.dns_label,
    ),
}
