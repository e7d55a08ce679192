"""scheduling.k8s.io: priority classes.

https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/
"""

from __future__ import annotations

from collections.abc import Iterator

from setpoint.cluster.server.builtin.behaviour import Behaviour, Json, Object
from setpoint.cluster.server.schema.causes import FieldError, forbidden, invalid, not_supported, required

_SYSTEM = "system-"
_SYSTEM_CLASSES = {"system-node-critical": 2000001000, "system-cluster-critical": 2000000000}
_HIGHEST = 1000000000
_POLICIES = ("PreemptLowerPriority", "Never")


def _defaults(priority: Json) -> None:
    priority.setdefault("preemptionPolicy", _POLICIES[0])


def _validate(priority: Object, old: Object | None) -> Iterator[FieldError]:
    value, policy = priority.get("value", 0), priority.get("preemptionPolicy")
    if old is not None:
        if value != old.get("value", 0):
            yield forbidden("value", "may not be changed in an update.")
        if policy != old.get("preemptionPolicy"):
            yield invalid("preemptionPolicy", policy, "field is immutable")
        return
    name = priority["metadata"].get("name", "")
    if name.startswith(_SYSTEM):
        if problem := _system_problem(name, priority):
            why = f"priority class names with '{_SYSTEM}' prefix are reserved for system use only. error: {problem}"
            yield forbidden("metadata.name", why)
    elif value > _HIGHEST:
        yield forbidden("value", f"maximum allowed value of a user defined priority is {_HIGHEST}")
    if policy == "":
        yield required("preemptionPolicy")
    elif policy not in _POLICIES:
        yield not_supported("preemptionPolicy", policy, _POLICIES)


def _system_problem(name: str, priority: Object) -> str:
    value = _SYSTEM_CLASSES.get(name)
    if value is None:
        return f"{name} is not a known system priority class"
    if priority.get("value") != value:
        return f"value of {name} PriorityClass must be {value}"
    return f"globalDefault of {name} PriorityClass must be false" if priority.get("globalDefault") else ""


def _never(new: Object, old: Object) -> bool:
    return False


BEHAVIOURS = {
    "PriorityClass": Behaviour(
        support="full",
        defaults=_defaults,
        validate=_validate,
        generation=True,
        counts=_never,
    ),
}
