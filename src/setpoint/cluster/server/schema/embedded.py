"""Embedded resources: objects inside an object, whose apiVersion, kind and metadata must be those of an object.

Follows https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#rawextension.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy

from setpoint.cluster.server.names import dns_1035_label
from setpoint.cluster.server.schema import causes
from setpoint.cluster.server.schema.causes import FieldError
from setpoint.cluster.server.schema.metadata import metadata_problem, tidy_metadata
from setpoint.cluster.server.schema.structural import Json, Structural


def embedded_errors(value: Json, node: Structural, path: str = "") -> list[FieldError]:
    """What is wrong with the type of the embedded resources in `value`, at any depth. The root itself is not one of them."""
    errors: list[FieldError] = []
    for place, resource in embedded_resources(value, node, path):
        _check(resource, place, errors)
    return errors


def embedded_resources(value: Json, node: Structural, path: str = "") -> Iterator[tuple[str, dict[str, Json]]]:
    """The embedded resources in `value`, at any depth, each with its path. The root itself is not one of them."""
    if not node.has_embedded:
        return
    if type(value) is dict:
        if node.embedded_resource and path:
            yield path, value
        for key, item in value.items():
            if (child := node.properties.get(key)) is not None:
                yield from embedded_resources(item, child, f"{path}.{key}" if path else key)
            elif node.additional is not None:
                yield from embedded_resources(item, node.additional, f"{path}[{key}]")
    elif type(value) is list and node.items is not None:
        for index, item in enumerate(value):
            yield from embedded_resources(item, node.items, f"{path}[{index}]")


def embedded_problem(value: Json, node: Structural, path: str = "") -> FieldError | None:
    """Why an embedded resource cannot be read at all, or None. The server answers 400 with it, before any validation."""
    if not node.has_embedded:
        return None
    if type(value) is dict:
        if node.embedded_resource and path and (problem := resource_problem(value, f"{path}.")) is not None:
            return problem
        children = []
        for key, item in value.items():
            if (child := node.properties.get(key)) is not None:
                children.append((item, child, f"{path}.{key}" if path else key))
            elif node.additional is not None:
                children.append((item, node.additional, f"{path}[{key}]"))
    elif type(value) is list and node.items is not None:
        children = [(item, node.items, f"{path}[{index}]") for index, item in enumerate(value)]
    else:
        return None
    return next((problem for child in children if (problem := embedded_problem(*child)) is not None), None)


def tidy_embedded(obj: dict[str, Json], schema: Structural) -> dict[str, Json]:
    """`obj` with the metadata of the resources in it as the real server gives it back (`tidy_metadata`)."""

    def untidy(value: Json) -> list[dict[str, Json]]:
        held = [resource for _, resource in embedded_resources(value, schema) if type(resource.get("metadata")) is dict]
        return [resource for resource in held if tidy_metadata(resource["metadata"]) != resource["metadata"]]

    if not untidy(obj):
        return obj
    obj = deepcopy(obj)
    for resource in untidy(obj):
        resource["metadata"] = tidy_metadata(resource["metadata"])
    return obj


def resource_problem(value: dict[str, Json], path: str) -> FieldError | None:
    """The same about one resource, whose fields' names come behind `path`."""
    for name in ("apiVersion", "kind"):
        if name in value and not isinstance(value[name], str):
            return causes.invalid(f"{path}{name}", value[name], "must be a string")
    metadata = value.get("metadata")
    # Go has written it down before it reads it: its keys are in order.
    if (problem := metadata_problem(dict(sorted(metadata.items())) if isinstance(metadata, dict) else metadata)) is not None:
        return causes.invalid(f"{path}metadata", value["metadata"], problem)
    return None


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
        elif name == "kind" and (problems := dns_1035_label(text.lower())):
            detail = f"may have mixed case, but should otherwise match: {','.join(problems)}"
            errors.append(causes.invalid(field, text, detail))
