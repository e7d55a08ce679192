"""What a PromQL expression asks for: its series with the labels that it matches and groups by, and its windows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import promql_parser

VARIABLES = {"$__rate_interval": "5m"}


@dataclass
class Asked:
    """One selector of an expression. `function` is what is applied to it, "" for none; `grouped` are the labels that must be left."""

    name: str
    matched: list[str]
    function: str = ""
    window: timedelta | None = None
    grouped: list[str] = field(default_factory=list)


def asked(expr: str) -> list[Asked]:
    """All selectors of an expression. Raises `ValueError` where it is no PromQL."""
    for variable, value in VARIABLES.items():
        expr = expr.replace(variable, value)
    return list(_walk(promql_parser.parse(expr), "", ()))


def _walk(node: Any, function: str, grouped: tuple[str, ...]) -> Iterator[Asked]:
    match node:
        case promql_parser.VectorSelector():
            yield Asked(node.name, [matcher.name for matcher in node.matchers.matchers], function, None, list(grouped))
        case promql_parser.MatrixSelector():
            for found in _walk(node.vector_selector, function, grouped):
                found.window = node.range
                yield found
        case promql_parser.SubqueryExpr() | promql_parser.ParenExpr() | promql_parser.UnaryExpr():
            yield from _walk(node.expr, function, grouped)
        case promql_parser.AggregateExpr():
            assert node.modifier is None or node.modifier.type == promql_parser.AggModifierType.By, "only `by` is understood here"
            labels = () if node.modifier is None else tuple(node.modifier.labels)
            yield from _walk(node.expr, function, (*grouped, *labels))
        case promql_parser.Call():
            for argument in node.args:
                yield from _walk(argument, node.func.name, grouped)
        case promql_parser.BinaryExpr():
            yield from _walk(node.lhs, function, grouped)
            yield from _walk(node.rhs, function, grouped)
        case promql_parser.NumberLiteral() | promql_parser.StringLiteral():
            return
        case _:
            raise AssertionError(f"{node} is not understood")


def labels_left(expr: str) -> set[str] | None:
    """The labels of an expression's result, where it groups at its top or at its left; None where it keeps all."""
    node = promql_parser.parse(expr)
    while isinstance(node, promql_parser.BinaryExpr | promql_parser.ParenExpr):
        node = node.expr if isinstance(node, promql_parser.ParenExpr) else node.lhs
    return set(node.modifier.labels) if isinstance(node, promql_parser.AggregateExpr) and node.modifier else None


def template_labels(text: str) -> set[str]:
    """The labels that an annotation uses."""
    return set(re.findall(r"\$labels\.(\w+)", text))
