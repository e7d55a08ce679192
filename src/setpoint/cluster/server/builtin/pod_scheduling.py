"""Where a pod may run: affinities, tolerations, spread over topologies, and the gates before all of it.

https://kubernetes.io/docs/concepts/scheduling-eviction/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from setpoint.cluster.server import names
from setpoint.cluster.server.schema.causes import FieldError, duplicate, forbidden, invalid, not_supported, required

from .label_selectors import selector_problems
from .node_selectors import node_selector_problems, node_term_problems

Json = Mapping[str, Any]

_REQUIRED, _PREFERRED = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_WHEN = ("DoNotSchedule", "ScheduleAnyway")
_ALL_KEYS = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'


def validate_affinity(affinity: Json, at: str) -> Iterator[FieldError]:
    """What is wrong with what a pod wants of nodes and of the pods there."""
    nodes = affinity.get("nodeAffinity") or {}
    if _REQUIRED in nodes:
        yield from node_selector_problems(nodes[_REQUIRED], f"{at}.nodeAffinity.{_REQUIRED}")
    for index, term in enumerate(nodes.get(_PREFERRED) or []):
        here = f"{at}.nodeAffinity.{_PREFERRED}[{index}]"
        yield from _weight(term, here)
        yield from node_term_problems(term.get("preference") or {}, f"{here}.preference", any_values=True)
    for name in ("podAffinity", "podAntiAffinity"):
        pods = affinity.get(name) or {}
        for index, term in enumerate(pods.get(_REQUIRED) or []):
            yield from _pod_term(term, f"{at}.{name}.{_REQUIRED}[{index}]")
        for index, term in enumerate(pods.get(_PREFERRED) or []):
            here = f"{at}.{name}.{_PREFERRED}[{index}]"
            yield from _weight(term, here)
            yield from _pod_term(term.get("podAffinityTerm") or {}, f"{here}.podAffinityTerm")


def _weight(term: Json, at: str) -> Iterator[FieldError]:
    if not 1 <= term.get("weight", 0) <= 100:
        yield invalid(f"{at}.weight", term.get("weight", 0), "must be in the range 1-100")


def _pod_term(term: Json, at: str) -> Iterator[FieldError]:
    for name in ("labelSelector", "namespaceSelector"):
        yield from selector_problems(term.get(name) or {}, f"{at}.{name}")
    for namespace in term.get("namespaces") or []:
        yield from (invalid(f"{at}.namespace", namespace, problem) for problem in names.dns_label(namespace))
    matched, mismatched = term.get("matchLabelKeys") or [], term.get("mismatchLabelKeys") or []
    yield from _label_keys(matched, mismatched, term.get("labelSelector"), at)
    key = term.get("topologyKey", "")
    if not key:
        yield required(f"{at}.topologyKey", "can not be empty")
    yield from (invalid(f"{at}.topologyKey", key, problem) for problem in names.label_key(key))


def _label_keys(matched: Sequence[str], mismatched: Sequence[str], selector: Json | None, at: str) -> Iterator[FieldError]:
    for name, keys in (("matchLabelKeys", matched), ("mismatchLabelKeys", mismatched)):
        if keys and selector is None:
            yield forbidden(f"{at}.{name}", "must not be specified when labelSelector is not set")
            continue
        for index, key in enumerate(keys):
            yield from (invalid(f"{at}.{name}[{index}]", key, problem) for problem in names.label_key(key))
    for index, key in enumerate(matched):
        if key in mismatched:
            yield invalid(f"{at}.matchLabelKeys[{index}]", key, "exists in both matchLabelKeys and mismatchLabelKeys")


def validate_spread(constraints: Sequence[Json], at: str) -> Iterator[FieldError]:
    """What is wrong with how a pod and those like it are to be spread."""
    for index, constraint in enumerate(constraints):
        here = f"{at}[{index}]"
        skew, key, when = constraint.get("maxSkew", 0), constraint.get("topologyKey", ""), constraint.get("whenUnsatisfiable", "")
        if skew <= 0:
            yield invalid(f"{here}.maxSkew", skew, "must be greater than zero")
        if not key:
            yield required(f"{here}.topologyKey", "can not be empty")
        if when not in _WHEN:
            yield not_supported(f"{here}.whenUnsatisfiable", when, _WHEN)
        if any((key, when) == (each.get("topologyKey", ""), each.get("whenUnsatisfiable", "")) for each in constraints[index + 1 :]):
            yield duplicate(f"{here}.{{topologyKey, whenUnsatisfiable}}", f"{{{key}, {when}}}")
        domains = constraint.get("minDomains")
        if domains is not None:
            if domains <= 0:
                yield invalid(f"{here}.minDomains", domains, "must be greater than zero")
            if when != "DoNotSchedule":
                detail = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {when}"
                yield invalid(f"{here}.minDomains", domains, detail)
        for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            if name in constraint and constraint[name] not in ("Honor", "Ignore"):
                yield not_supported(f"{here}.{name}", constraint[name], ("Honor", "Ignore"))
        yield from _label_keys(constraint.get("matchLabelKeys") or [], (), constraint.get("labelSelector"), here)
        yield from selector_problems(constraint.get("labelSelector") or {}, f"{here}.labelSelector")


def validate_tolerations(tolerations: Sequence[Json], at: str) -> Iterator[FieldError]:
    """What is wrong with what a pod puts up with."""
    for index, toleration in enumerate(tolerations):
        yield from _toleration(toleration, f"{at}[{index}]")


def _toleration(toleration: Json, at: str) -> Iterator[FieldError]:
    key, operator, value = toleration.get("key", ""), toleration.get("operator", ""), toleration.get("value", "")
    effect = toleration.get("effect", "")
    if key:
        yield from (invalid(f"{at}.key", key, problem) for problem in names.label_key(key))
    elif operator != "Exists":
        yield invalid(f"{at}.operator", operator, _ALL_KEYS)
    if "tolerationSeconds" in toleration and effect != "NoExecute":
        yield invalid(f"{at}.effect", effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
    match operator:
        case "Equal" | "":
            if problems := names.label_value(value):
                yield invalid(f"{at}.operator", value, ";".join(problems))
        case "Exists":
            if value:
                yield invalid(f"{at}.operator", value, "value must be empty when `operator` is 'Exists'")
        case "Lt" | "Gt":
            yield not_supported(f"{at}.operator", operator, ("Equal", "Exists", "Lt", "Gt"))
        case _:
            yield not_supported(f"{at}.operator", operator, ("Equal", "Exists"))
    if effect and effect not in _EFFECTS:
        yield not_supported(f"{at}.effect", effect, _EFFECTS)


def validate_gates(gates: Sequence[Json], at: str) -> Iterator[FieldError]:
    """What is wrong with what must be taken away before a pod is scheduled."""
    seen: dict[str, None] = {}
    for index, gate in enumerate(gates):
        name = gate.get("name", "")
        yield from (invalid(f"{at}[{index}]", name, problem) for problem in names.label_key(name))
        if name in seen:
            yield duplicate(f"{at}[{index}]", name)
        seen[name] = None
