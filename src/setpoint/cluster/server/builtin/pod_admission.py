"""What the admission plugins of a default cluster do to pods: priority, runtime class, and how long a lost node is put up with.

https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .equality import same

Json = dict[str, Any]
Object = Mapping[str, Any]

_UNREADY = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_KEEP_UNREADY_SECONDS = 300
_PREEMPT = "PreemptLowerPriority"


class Refused(Exception):
    """Its text is why the pod is forbidden."""


def admit_pod(obj: Json, priorities: Callable[[], Iterable[Object]], runtimes: Callable[[], Iterable[Object]]) -> None:
    """Completes a new pod by the classes that there are. Raises Refused."""
    spec: Json = {**obj["spec"]}
    _set_priority(spec, priorities())
    _tolerate_unready(spec)
    _set_runtime(spec, runtimes)
    obj["spec"] = spec


def admit_pod_update(new: Json, old: Object) -> None:
    """Gives a changed pod what it did not say and cannot lose."""
    spec, before = {**new["spec"]}, old.get("spec") or {}
    for name in ("priority", "preemptionPolicy"):
        if name in before:
            spec.setdefault(name, before[name])
    _tolerate_unready(spec)
    new["spec"] = spec


def _set_priority(spec: Json, classes: Iterable[Object]) -> None:
    name = spec.get("priorityClassName", "")
    chosen: Object | None = None
    for each in classes:
        if each["metadata"]["name"] == name if name else each.get("globalDefault"):
            # Of several defaults the lowest one counts.
            chosen = each if chosen is None or each.get("value", 0) < chosen.get("value", 0) else chosen
    if name and chosen is None:
        raise Refused(f"no PriorityClass with name {name} was found")
    value, policy = (0, _PREEMPT) if chosen is None else (chosen.get("value", 0), chosen.get("preemptionPolicy", _PREEMPT))
    computed = "must not be provided in pod spec; priority admission controller computed"
    if spec.get("priority", value) != value:
        raise Refused(f"the integer value of priority ({spec['priority']}) {computed} {value} from the given PriorityClass name")
    if spec.get("preemptionPolicy", policy) != policy:
        stated = spec["preemptionPolicy"]
        raise Refused(f"the string value of PreemptionPolicy ({stated}) {computed} {policy} from the given PriorityClass name")
    spec["priority"], spec["preemptionPolicy"] = value, policy
    if chosen is not None:
        spec["priorityClassName"] = chosen["metadata"]["name"]


def _tolerate_unready(spec: Json) -> None:
    tolerations = list(spec.get("tolerations") or [])
    for taint in _UNREADY:
        if not any(_tolerates(toleration, taint) for toleration in tolerations):
            tolerations.append({"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _KEEP_UNREADY_SECONDS})
    spec["tolerations"] = tolerations


def _tolerates(toleration: Object, taint: str) -> bool:
    if toleration.get("effect") not in (None, "", "NoExecute"):
        return False
    return toleration.get("key") in (None, "", taint)


def _set_runtime(spec: Json, classes: Callable[[], Iterable[Object]]) -> None:
    name, overhead = spec.get("runtimeClassName"), spec.get("overhead")
    if not name:
        if overhead:
            raise Refused("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")
        return
    chosen = next((each for each in classes() if each["metadata"]["name"] == name), None)
    if chosen is None:
        raise Refused(f'pod rejected: RuntimeClass "{name}" not found')
    fixed = (chosen.get("overhead") or {}).get("podFixed")
    if fixed:
        if overhead and not same({"overhead": overhead}, {"overhead": fixed}):
            raise Refused("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
        spec["overhead"] = fixed
    elif overhead:
        raise Refused("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")
    scheduling = chosen.get("scheduling") or {}
    wanted, stated = scheduling.get("nodeSelector") or {}, spec.get("nodeSelector") or {}
    for key, value in wanted.items():
        if stated.get(key, value) != value:
            raise Refused(f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; pod.spec.nodeSelector[{key}] = {stated[key]}")
    if wanted:
        spec["nodeSelector"] = {**stated, **wanted}
    more = [toleration for toleration in scheduling.get("tolerations") or [] if toleration not in spec["tolerations"]]
    spec["tolerations"] = [*spec["tolerations"], *more]
