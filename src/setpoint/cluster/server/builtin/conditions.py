"""Conditions in the form that most kinds have them.

https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from setpoint.cluster.server import names
from setpoint.cluster.server.schema.causes import FieldError, duplicate, invalid, not_supported, required, too_long

_STATUSES = ("False", "True", "Unknown")
_REASON_FORM = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
_REASON = re.compile(_REASON_FORM)
_REASON_TEXT = (
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', "
    "and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  "
    f"or 'ReasonA:ReasonB', regex used for validation is '{_REASON_FORM}')"
)


def validate_conditions(conditions: Sequence[Mapping[str, Any]], at: str) -> Iterator[FieldError]:
    """What is wrong with a list of conditions at the path ``at``."""
    seen: dict[str, None] = {}
    for index, condition in enumerate(conditions):
        here = f"{at}[{index}]"
        kind = condition.get("type", "")
        if kind in seen:
            yield duplicate(here, kind)
        seen[kind] = None
        yield from _condition(condition, here)


def _condition(condition: Mapping[str, Any], at: str) -> Iterator[FieldError]:
    kind, status, reason = condition.get("type", ""), condition.get("status", ""), condition.get("reason", "")
    if kind:
        yield from (invalid(f"{at}.type", kind, problem) for problem in names.label_key(kind))
    else:
        yield required(f"{at}.type", "is required")
    if status not in _STATUSES:
        yield not_supported(f"{at}.status", status, _STATUSES)
    if condition.get("observedGeneration", 0) < 0:
        yield invalid(f"{at}.observedGeneration", condition["observedGeneration"], "must be greater than or equal to zero")
    if condition.get("lastTransitionTime") is None:
        yield required(f"{at}.lastTransitionTime")
    if not reason:
        yield required(f"{at}.reason")
    elif not _REASON.fullmatch(reason):
        yield invalid(f"{at}.reason", reason, _REASON_TEXT)
    if len(reason) > 1024:
        yield too_long(f"{at}.reason", 1024)
    if len(condition.get("message", "")) > 32768:
        yield too_long(f"{at}.message", 32768)
