"""Label selectors at work: whether one can be asked, what it takes, and how a refusal shows it.

https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.cluster.server.schema.causes import FieldError
from setpoint.cluster.server.schema.gotext import as_json

from .label_selectors import selector_problems

Json = Mapping[str, Any]


def readable(selector: Json | None) -> bool:
    """Whether a selector can be asked at all."""
    return next(iter(selector_problems(selector or {}, "")), None) is None


def selects_everything(selector: Json | None) -> bool:
    """Whether a selector is there and asks for nothing."""
    return selector is not None and not selector.get("matchLabels") and not selector.get("matchExpressions")


def selector_matches(selector: Json | None, labels: Json) -> bool:
    """Whether a `readable` selector takes something with these labels; none takes nothing, an empty one everything."""
    if selector is None:
        return False
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    return all(_meets(expression, labels) for expression in selector.get("matchExpressions") or [])


def _meets(expression: Json, labels: Json) -> bool:
    key, values = expression["key"], expression.get("values") or []
    match expression["operator"]:
        case "In":
            return key in labels and labels[key] in values
        case "NotIn":
            return key not in labels or labels[key] not in values
        case "Exists":
            return key in labels
        case _:
            return key not in labels


def shown(selector: Any) -> str:
    """A selector as Go prints it: labels first."""
    if not isinstance(selector, dict):
        return as_json(selector)
    parts = [f'"{key}":{as_json(selector[key])}' for key in ("matchLabels", "matchExpressions") if selector.get(key)]
    return "{" + ",".join(parts) + "}"


def invalid_selector(at: str, selector: Any, detail: str = "") -> FieldError:
    """A refusal of a whole selector."""
    return FieldError("FieldValueInvalid", f"Invalid value: {shown(selector)}{': ' if detail else ''}{detail}", at)
