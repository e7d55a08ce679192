"""Selectors of nodes, as affinities and volumes have them.

https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#node-affinity
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from setpoint.cluster.server import names
from setpoint.cluster.server.schema.causes import FieldError, forbidden, invalid, required

Json = Mapping[str, Any]

_NO_OPERATOR = "not a valid selector operator"


def node_selector_problems(selector: Json, at: str) -> Iterator[FieldError]:
    """What is wrong with a selector at the path ``at``."""
    terms = selector.get("nodeSelectorTerms") or []
    if not terms:
        yield required(f"{at}.nodeSelectorTerms", "must have at least one node selector term")
    for index, term in enumerate(terms):
        yield from node_term_problems(term, f"{at}.nodeSelectorTerms[{index}]")


def node_term_problems(term: Json, at: str, *, any_values: bool = False) -> Iterator[FieldError]:
    """What is wrong with one of its terms. With ``any_values``, it may ask for values that no label can have."""
    for index, requirement in enumerate(term.get("matchExpressions") or []):
        yield from _by_label(requirement, f"{at}.matchExpressions[{index}]", any_values=any_values)
    for index, requirement in enumerate(term.get("matchFields") or []):
        yield from _by_field(requirement, f"{at}.matchFields[{index}]")


def _by_label(requirement: Json, at: str, *, any_values: bool) -> Iterator[FieldError]:
    operator, values, key = requirement.get("operator", ""), requirement.get("values") or [], requirement.get("key", "")
    match operator:
        case "In" | "NotIn":
            if not values:
                yield required(f"{at}.values", "must be specified when `operator` is 'In' or 'NotIn'")
        case "Exists" | "DoesNotExist":
            if values:
                yield forbidden(f"{at}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
        case "Gt" | "Lt":
            if len(values) != 1:
                yield required(f"{at}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
        case _:
            yield invalid(f"{at}.operator", operator, _NO_OPERATOR)
    yield from (invalid(f"{at}.key", key, problem) for problem in names.label_key(key))
    if not any_values:
        for number, value in enumerate(values):
            yield from (invalid(f"{at}.values[{number}]", value, problem) for problem in names.label_value(value))


def _by_field(requirement: Json, at: str) -> Iterator[FieldError]:
    operator, values, key = requirement.get("operator", ""), requirement.get("values") or [], requirement.get("key", "")
    if operator not in ("In", "NotIn"):
        yield invalid(f"{at}.operator", operator, _NO_OPERATOR)
    elif len(values) != 1:
        yield required(f"{at}.values", "must be only one value when `operator` is 'In' or 'NotIn' for node field selector")
    if key != "metadata.name":
        yield invalid(f"{at}.key", key, "not a valid field selector key")
        return
    for number, value in enumerate(values):
        yield from (invalid(f"{at}.values[{number}]", value, problem) for problem in names.dns_subdomain(value))
