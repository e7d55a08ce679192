"""Embedded resources: objects inside an object, whose apiVersion, kind and metadata must be those of an object.

Follows https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#rawextension.
"""

from __future__ import annotations

import re

from setpoint.cluster.server.schema import causes
from setpoint.cluster.server.schema.causes import FieldError
from setpoint.cluster.server.schema.structural import Json, Structural

_KIND = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_KIND_RULE = (
    "may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
    "start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
)


def embedded_errors(value: Json, node: Structural, path: str = "") -> list[FieldError]:
    """What is wrong with the type of the embedded resources in `value`, at any depth. The root itself is not one of them."""
    errors: list[FieldError] = []
    _visit(value, node, path, errors)
    return errors


def _visit(value: Json, node: Structural, path: str, errors: list[FieldError]) -> None:
    if not node.has_embedded:
        return
    if type(value) is dict:
        if node.embedded_resource and path:
            _check(value, path, errors)
        for key, item in value.items():
            if (child := node.properties.get(key)) is not None:
                _visit(item, child, f"{path}.{key}" if path else key, errors)
            elif node.additional is not None:
                _visit(item, node.additional, f"{path}[{key}]", errors)
    elif type(value) is list and node.items is not None:
        for index, item in enumerate(value):
            _visit(item, node.items, f"{path}[{index}]", errors)


def _check(value: dict[str, Json], path: str, errors: list[FieldError]) -> None:
    errors += [causes.required(f"{path}.{name}") for name in ("apiVersion", "kind") if name not in value]
    for name in ("apiVersion", "kind"):
        if name not in value:
            continue
        text, field = value[name], f"{path}.{name}"
        if not isinstance(text, str):
            errors.append(causes.invalid(field, text, "must be a string"))
        elif not text:
            errors.append(causes.invalid(field, text, "must not be empty"))
        elif name == "apiVersion" and text.count("/") > 1:
            errors.append(causes.invalid(field, text, f"unexpected GroupVersion string: {text}"))
        elif name == "kind" and (len(text) > 63 or not _KIND.fullmatch(text.lower())):
            errors.append(causes.invalid(field, text, _KIND_RULE))
    if "metadata" in value and type(value["metadata"]) is not dict:
        errors.append(causes.invalid(f"{path}.metadata", value["metadata"], "must be an object"))
