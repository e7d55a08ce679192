"""LimitRanges and ResourceQuotas. They are kept and judged; nothing is counted, and nothing is refused because of them.

https://kubernetes.io/docs/concepts/policy/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from setpoint.cluster.server import names
from setpoint.cluster.server.builtin.behaviour import Behaviour, Json, Object
from setpoint.cluster.server.builtin.go_print import refused, struct
from setpoint.cluster.server.builtin.resource_names import (
    container_resource,
    is_standard_of_quotas,
    may_be_overcommitted,
    quota_resource,
    resource_amount,
    resource_name,
)
from setpoint.cluster.server.schema.causes import FieldError, duplicate, forbidden, invalid, required
from setpoint.cluster.server.schema.gotext import as_json
from setpoint.objects import Quantity

Amounts = Mapping[str, str]


# --------------------------------------------------------------------------------------------------------- LimitRange


def _range_defaults(limits: Json) -> None:
    spec = limits["spec"]
    spec.setdefault("limits", None)
    for item in spec["limits"] or ():
        if item.get("type") == "Container":
            most = {**(item.get("max") or {}), **(item.get("default") or {})}
            asked = {**(item.get("min") or {}), **most, **(item.get("defaultRequest") or {})}
            # Go writes its maps in the order of their keys.
            item |= {name: dict(sorted(amounts.items())) for name, amounts in (("default", most), ("defaultRequest", asked)) if amounts}


def _name_range(limits: Json) -> None:
    metadata = limits["metadata"]
    if not metadata.get("name"):
        limits["metadata"] = {**metadata, "name": metadata["uid"]}


def _validate_range(limits: Object, old: Object | None) -> Iterator[FieldError]:
    seen: dict[str, None] = {}
    for index, item in enumerate((limits.get("spec") or {}).get("limits") or ()):
        at, kind = f"spec.limits[{index}]", item.get("type", "")
        problems = names.label_key(kind)
        yield from (invalid(f"{at}.type", kind, problem) for problem in problems)
        if not problems and "/" not in kind and kind not in ("Pod", "Container", "PersistentVolumeClaim"):
            yield invalid(f"{at}.type", kind, "must be a standard limit type or fully qualified")
        if kind in seen:
            yield duplicate(f"{at}.type", kind)
        seen[kind] = None
        yield from _item_problems(item, kind, at)


_STATED = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")


def _item_problems(item: Object, kind: str, at: str) -> Iterator[FieldError]:
    rule = container_resource if kind in ("Pod", "Container") else resource_name
    stated: dict[str, Amounts] = {name: item.get(name) or {} for name in _STATED}
    if kind == "Pod":
        for name in ("default", "defaultRequest"):
            if stated[name]:
                yield forbidden(f"{at}.{name}", "may not be specified when `type` is 'Pod'")
            stated[name] = {}
    for name, amounts in stated.items():
        if name == "maxLimitRequestRatio" and kind == "PersistentVolumeClaim" and not {"storage"} & {*stated["min"], *stated["max"]}:
            yield required(f"{at}.limits", "either minimum or maximum storage value is required, but neither was provided")
        for resource in amounts:
            yield from rule(resource, f"{at}.{name}[{resource}]")
    for resource in sorted({key: None for amounts in stated.values() for key in amounts}):
        amount = {name: amounts[resource] for name, amounts in stated.items() if resource in amounts}
        yield from _bound_problems(amount, resource, at)


_BOUNDS = (
    ("min", "max", "min", "min", "min value {} is greater than max value {}"),
    ("min", "defaultRequest", "defaultRequest", "defaultRequest", "min value {} is greater than default request value {}"),
    ("defaultRequest", "max", "defaultRequest", "defaultRequest", "default request value {} is greater than max value {}"),
    ("defaultRequest", "default", "defaultRequest", "defaultRequest", "default request value {} is greater than default limit value {}"),
    ("min", "default", "default", "min", "min value {} is greater than default value {}"),
    ("default", "max", "default", "max", "default value {} is greater than max value {}"),
)
"""What may not be greater than what: where that is said, which value is shown, and the text."""


def _bound_problems(amount: Amounts, resource: str, at: str) -> Iterator[FieldError]:
    for lower, upper, where, shown, text in _BOUNDS:
        if lower in amount and upper in amount and Quantity(amount[lower]) > Quantity(amount[upper]):
            yield invalid(f"{at}.{where}[{resource}]", amount[shown], text.format(amount[lower], amount[upper]))
    if ratio := amount.get("maxLimitRequestRatio"):
        yield from _ratio_problems(ratio, amount, f"{at}.maxLimitRequestRatio[{resource}]")
    limit, request = amount.get("default"), amount.get("defaultRequest")
    if not may_be_overcommitted(resource) and limit and request and Quantity(limit) != Quantity(request):
        why = f"default value {limit} must equal to defaultRequest value {request} in {resource}"
        yield invalid(f"{at}.defaultRequest[{resource}]", request, why)


def _ratio_problems(ratio: str, amount: Amounts, at: str) -> Iterator[FieldError]:
    if Quantity(ratio) < 1:
        yield invalid(at, ratio, f"ratio {ratio} is less than 1")
    least, most = Quantity(amount.get("min", "0")).amount, Quantity(amount.get("max", "0")).amount
    if "max" in amount and least and Quantity(ratio).amount > most / least:
        yield invalid(at, ratio, f"ratio {ratio} is greater than max/min = {float(most / least):f}")


# ------------------------------------------------------------------------------------------------------ ResourceQuota

_COMPUTE = ("pods", "cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory")
_BY_SCOPE: dict[str, tuple[str, ...]] = {
    "Terminating": _COMPUTE,
    "NotTerminating": _COMPUTE,
    "NotBestEffort": _COMPUTE,
    "PriorityClass": _COMPUTE,
    "CrossNamespacePodAffinity": _COMPUTE,
    "BestEffort": ("pods",),
    "VolumeAttributesClass": ("persistentvolumeclaims", "requests.storage"),
}
"""The scopes, and which resources each can be about."""
_CONFLICTING = (("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating"))
_ONLY_EXISTS = ("BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity")
_MUST_EXIST = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
    "ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)


def _validate_quota(quota: Object, old: Object | None) -> Iterator[FieldError]:
    spec = quota.get("spec") or {}
    scopes: list[str] = spec.get("scopes") or []
    hard: Amounts = spec.get("hard") or {}
    yield from _amounts_problems(hard, "spec.hard")
    for scope in scopes:
        if scope not in _BY_SCOPE:
            yield invalid("spec.scopes", scopes, "unsupported scope")
        yield from (invalid("spec.scopes", scopes, "unsupported scope applied to resource") for _ in _unfit(scope, hard))
    yield from _conflicts(scopes, "spec.scopes", scopes)
    if (selector := spec.get("scopeSelector")) is not None:
        yield from _selector_problems(selector, hard, scopes)
    if old is not None and sorted(scopes) != sorted((old.get("spec") or {}).get("scopes") or []):
        yield invalid("spec.scopes", scopes or None, "field is immutable")


def _amounts_problems(amounts: Amounts, at: str) -> Iterator[FieldError]:
    for name, amount in amounts.items():
        yield from quota_resource(name, f"{at}[{name}]")
        yield from resource_amount(name, amount, f"{at}[{name}]")


def _unfit(scope: str, hard: Amounts) -> list[str]:
    return [name for name in hard if is_standard_of_quotas(name) and scope in _BY_SCOPE and name not in _BY_SCOPE[scope]]


def _conflicts(stated: list[str], at: str, shown: list[str]) -> Iterator[FieldError]:
    if any(one in stated and other in stated for one, other in _CONFLICTING):
        yield from (invalid(at, shown or None, "conflicting scopes") for one, other in _CONFLICTING if one in stated and other in stated)


def _selector_problems(selector: Object, hard: Amounts, scopes: list[str]) -> Iterator[FieldError]:
    expressions, at = selector.get("matchExpressions") or [], "spec.scopeSelector.matchExpressions"
    for expression in expressions:
        scope, operator, values = expression.get("scopeName", ""), expression.get("operator", ""), expression.get("values") or []
        if scope not in _BY_SCOPE:
            yield invalid(f"{at}.scopeName", scope, "unsupported scope")
        yield from (refused(at, _shown(expressions), "unsupported scope applied to resource") for _ in _unfit(scope, hard))
        if scope in _ONLY_EXISTS and operator != "Exists":
            yield invalid(f"{at}.operator", operator, _MUST_EXIST)
        if operator in ("In", "NotIn"):
            if not values:
                yield required(f"{at}.values", "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector")
        elif operator not in ("Exists", "DoesNotExist"):
            yield invalid(f"{at}.operator", operator, "not a valid selector operator")
        elif values:
            yield invalid(f"{at}.values", values, "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector")
    yield from _conflicts([expression.get("scopeName", "") for expression in expressions], at, scopes)


def _shown(expressions: list[Any]) -> str:
    """A scope selector as Go prints it."""
    order = (("ScopeName", "scopeName", ""), ("Operator", "operator", ""), ("Values", "values", None))
    printed = [struct((shown, as_json(expression.get(name, empty))) for shown, name, empty in order) for expression in expressions]
    return struct([("MatchExpressions", f"[{','.join(printed)}]")])


def _validate_quota_status(quota: Object, old: Object) -> Iterator[FieldError]:
    status = quota.get("status") or {}
    for name in ("hard", "used"):
        yield from _amounts_problems(status.get(name) or {}, f"status.{name}")


def _quota_warnings(quota: Object, old: Object | None) -> Iterator[str]:
    if old is not None:
        return
    hard: Amounts = (quota.get("spec") or {}).get("hard") or {}
    for name in ("cpu", "memory", "storage", "ephemeral-storage"):
        asked, most = f"requests.{name}", f"limits.{name}"
        if asked not in hard and name in ("cpu", "memory"):
            asked = name
        if asked in hard and most in hard and Quantity(hard[asked]) > Quantity(hard[most]):
            yield f"ResourceQuota {asked} ({hard[asked]}) should be less than {most} ({hard[most]})"


BEHAVIOURS = {
    "LimitRange": Behaviour(
        support="full", defaults=_range_defaults, prepare_create=_name_range, validate=_validate_range, create_on_update=True
    ),
    "ResourceQuota": Behaviour(
        support="full",
        validate=_validate_quota,
        validate_status=_validate_quota_status,
        warns=_quota_warnings,
        returns_deleted=True,
    ),
}
