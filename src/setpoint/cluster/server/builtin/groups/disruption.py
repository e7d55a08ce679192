"""PodDisruptionBudgets: what must hold of one, and of its status.

https://kubernetes.io/docs/tasks/run-application/configure-pdb/
"""

from __future__ import annotations

from collections.abc import Iterator

from setpoint.cluster.server import names
from setpoint.cluster.server.builtin.behaviour import Behaviour, Object
from setpoint.cluster.server.builtin.conditions import validate_conditions
from setpoint.cluster.server.builtin.counts import all_not_negative, at_most_all, count_or_percent
from setpoint.cluster.server.builtin.go_print import refused
from setpoint.cluster.server.builtin.label_selectors import selector_problems
from setpoint.cluster.server.builtin.selectors import shown
from setpoint.cluster.server.schema.causes import FieldError, not_supported
from setpoint.cluster.server.schema.gotext import as_json

_EVICTION = ("AlwaysAllow", "IfHealthyBudget")
_COUNTS = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")


def validate(new: Object, old: Object | None) -> Iterator[FieldError]:
    """What is wrong with a budget."""
    spec = new.get("spec") or {}
    if "minAvailable" in spec and "maxUnavailable" in spec:
        yield refused("spec", _shown(spec), "minAvailable and maxUnavailable cannot be both set")
    for name in ("minAvailable", "maxUnavailable"):
        if name in spec:
            yield from count_or_percent(spec[name], f"spec.{name}")
            yield from at_most_all(spec[name], f"spec.{name}")
    yield from selector_problems(spec.get("selector") or {}, "spec.selector")
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None and policy not in _EVICTION:
        yield not_supported("spec.unhealthyPodEvictionPolicy", policy, _EVICTION)


def _shown(spec: Object) -> str:
    """As the server prints it, from a struct of its own."""
    fields = {name: as_json(spec.get(name)) for name in ("minAvailable", "maxUnavailable", "unhealthyPodEvictionPolicy")}
    return (
        f'{{"MinAvailable":{fields["minAvailable"]},"Selector":{shown(spec.get("selector"))},'
        f'"MaxUnavailable":{fields["maxUnavailable"]},"UnhealthyPodEvictionPolicy":{fields["unhealthyPodEvictionPolicy"]}}}'
    )


def validate_status(new: Object, old: Object) -> Iterator[FieldError]:
    """What is wrong with a status."""
    status = new.get("status") or {}
    yield from validate_conditions(status.get("conditions") or [], "status.conditions")
    yield from all_not_negative(status, _COUNTS, "status")


BEHAVIOURS = {
    "PodDisruptionBudget": Behaviour(
        support="full",
        validate=validate,
        validate_status=validate_status,
        generation=True,
        unconditional_update=False,
        name_rule=names.path_segment,
    ),
}
