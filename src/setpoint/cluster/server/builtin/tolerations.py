"""Tolerations of taints.

https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from setpoint.cluster.server import names
from setpoint.cluster.server.schema.causes import FieldError, invalid, not_supported

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_WITHOUT_KEY = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'


def toleration_problems(tolerations: Iterable[Mapping[str, Any]], field: str) -> Iterator[FieldError]:
    """What is wrong with a list of tolerations."""
    for index, toleration in enumerate(tolerations):
        at = f"{field}[{index}]"
        key, operator, value = toleration.get("key", ""), toleration.get("operator", ""), toleration.get("value", "")
        effect = toleration.get("effect", "")
        if key:
            yield from (invalid(f"{at}.key", key, problem) for problem in names.label_key(key))
        elif operator != "Exists":
            yield invalid(f"{at}.operator", operator, _WITHOUT_KEY)
        if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
            yield invalid(f"{at}.effect", effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
        if operator in ("Equal", ""):
            if problems := names.label_value(value):
                yield invalid(f"{at}.operator", value, ";".join(problems))
        elif operator == "Exists":
            if value:
                yield invalid(f"{at}.operator", value, "value must be empty when `operator` is 'Exists'")
        else:
            known = ("Equal", "Exists", "Lt", "Gt") if operator in ("Lt", "Gt") else ("Equal", "Exists")
            yield not_supported(f"{at}.operator", operator, known)
        if effect and effect not in _EFFECTS:
            yield not_supported(f"{at}.effect", effect, _EFFECTS)
