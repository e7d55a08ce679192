"""What a pod asks for as a whole, and the class of service that follows.

https://kubernetes.io/docs/concepts/workloads/pods/pod-qos/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from setpoint.cluster.server.schema.causes import FieldError, forbidden, invalid, not_supported
from setpoint.objects import Quantity

from .quantities import canonical
from .resource_names import HUGE_PAGES, resource_amount

Json = Mapping[str, Any]
Amounts = dict[str, Fraction]

_COUNTED = ("cpu", "memory")


def quality_of_service(spec: Json) -> str:
    """Guaranteed, Burstable or BestEffort."""
    whole = spec.get("resources")
    parts = [whole] if whole else [container.get("resources") or {} for container in _containers(spec)]
    requests, limits, guaranteed = Amounts(), Amounts(), True
    for part in parts:
        _add(requests, _positive(part.get("requests")))
        mine = _positive(part.get("limits"))
        _add(limits, mine)
        guaranteed = guaranteed and mine.keys() == set(_COUNTED)
    if not requests and not limits:
        return "BestEffort"
    return "Guaranteed" if guaranteed and requests == limits else "Burstable"


def _containers(spec: Json) -> list[Json]:
    return [*(spec.get("initContainers") or []), *(spec.get("containers") or [])]


def _positive(amounts: Json | None) -> Amounts:
    read = {name: Quantity(amount).amount for name, amount in (amounts or {}).items() if name in _COUNTED}
    return {name: amount for name, amount in read.items() if amount > 0}


def _add(total: Amounts, more: Amounts) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, Fraction(0)) + amount


def default_pod_resources(spec: dict[str, Any]) -> None:
    """What a pod as a whole asks for where it only says what it may use: what its containers ask for, else just that."""
    whole = spec.get("resources") or {}
    limits = whole.get("limits")
    if not limits:
        return
    asked = {name: canonical(_text(amount)) for name, amount in _asked_together(spec).items() if _is_for_pods(name)}
    rest = {name: amount for name, amount in limits.items() if _is_for_pods(name)}
    requests = {
        **rest,
        **{name: amount for name, amount in asked.items() if not name.startswith(HUGE_PAGES)},
        **(whole.get("requests") or {}),
    }
    spec["resources"] = {**whole, "requests": requests}


def _text(amount: Fraction) -> str:
    return str(int(amount)) if amount.denominator == 1 else f"{int(-(-amount * 1000 // 1))}m"


def _is_for_pods(name: str) -> bool:
    return name in _COUNTED or name.startswith(HUGE_PAGES)


def _asked_together(spec: Json) -> Amounts:
    """What the containers ask for at any one time."""
    total, most = Amounts(), Amounts()
    for container in spec.get("initContainers") or []:
        mine = {name: Quantity(amount).amount for name, amount in ((container.get("resources") or {}).get("requests") or {}).items()}
        if container.get("restartPolicy") == "Always":
            _add(total, mine)
            mine = {}
        at_once = dict(total)
        _add(at_once, mine)
        most = {name: max(most.get(name, Fraction(0)), at_once.get(name, Fraction(0))) for name in {**most, **at_once}}
    for container in spec.get("containers") or []:
        _add(total, {name: Quantity(amount).amount for name, amount in ((container.get("resources") or {}).get("requests") or {}).items()})
    return {name: max(most.get(name, Fraction(0)), total.get(name, Fraction(0))) for name in {**most, **total}}


def validate_pod_resources(spec: Json, at: str) -> Iterator[FieldError]:
    """What is wrong with what a pod asks for as a whole; ``at`` is where it says so."""
    whole = spec.get("resources")
    if whole is None:
        return
    if whole.get("claims"):
        yield forbidden(f"{at}.claims", "claims may not be set for Resources at pod-level")
    limits, requests = whole.get("limits") or {}, whole.get("requests") or {}
    for part, amounts in (("limits", limits), ("requests", requests)):
        for name, amount in amounts.items():
            here = f"{at}.{part}[{name}]"
            if not _is_for_pods(name):
                yield not_supported(here, name, ("cpu", HUGE_PAGES, "memory"))
            yield from resource_amount(name, amount, here)
            if part == "requests" and name in limits and Quantity(amount) > Quantity(limits[name]):
                yield invalid(f"{at}.requests", amount, f"must be less than or equal to {name} limit of {limits[name]}")
    for name, amount in _asked_together(spec).items():
        if name in requests and amount > Quantity(requests[name]).amount:
            detail = f"must be greater than or equal to aggregate container requests of {canonical(_text(amount))}"
            yield invalid(f"{at}.requests[{name}]", requests[name], detail)
    for index, container in enumerate(spec.get("containers") or []):
        for name, amount in ((container.get("resources") or {}).get("limits") or {}).items():
            if name in limits and Quantity(amount) > Quantity(limits[name]):
                detail = f"must be less than or equal to pod limits of {limits[name]}"
                yield invalid(f"{at}.containers[{index}][{name}].limits", amount, detail)
