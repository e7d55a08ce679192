"""Labels, and selectors of labels, inside the specs of built-in kinds: what is wrong with them.

https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from setpoint.cluster.server import names
from setpoint.cluster.server.schema.causes import FieldError, forbidden, invalid, required


def label_problems(labels: Mapping[str, str], field: str) -> Iterator[FieldError]:
    """What is wrong with a map of labels."""
    for key, value in labels.items():
        yield from (invalid(field, key, problem) for problem in names.label_key(key))
        yield from (invalid(field, value, problem) for problem in names.label_value(value))


def selector_problems(selector: Mapping[str, Any], field: str, *, any_values: bool = False) -> Iterator[FieldError]:
    """What is wrong with a selector. With `any_values`, expressions may ask for values that no label can have."""
    yield from label_problems(selector.get("matchLabels") or {}, f"{field}.matchLabels")
    for index, expression in enumerate(selector.get("matchExpressions") or ()):
        at = f"{field}.matchExpressions[{index}]"
        key, operator, values = expression.get("key", ""), expression.get("operator", ""), expression.get("values") or ()
        if operator in ("In", "NotIn"):
            if not values:
                yield required(f"{at}.values", "must be specified when `operator` is 'In' or 'NotIn'")
        elif operator not in ("Exists", "DoesNotExist"):
            yield invalid(f"{at}.operator", operator, "not a valid selector operator")
        elif values:
            yield forbidden(f"{at}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
        yield from (invalid(f"{at}.key", key, problem) for problem in names.label_key(key))
        if not any_values:
            for number, value in enumerate(values):
                yield from (invalid(f"{at}.values[{number}]", value, problem) for problem in names.label_value(value))
