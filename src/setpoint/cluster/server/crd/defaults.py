"""Defaults in a schema must be pruned and valid, as if somebody had written them into an object."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace

from setpoint.cluster.server.metadata import validate_embedded_metadata
from setpoint.cluster.server.schema import (
    FieldError,
    Json,
    SchemaError,
    causes,
    compile_schema,
    embedded_problem,
    embedded_resources,
    prune,
)
from setpoint.cluster.server.schema.embedded import embedded_errors, resource_problem
from setpoint.cluster.server.schema.structural import Structural
from setpoint.cluster.server.schema.validate import NO_FIELD, validate_value

META_FIELDS = ("apiVersion", "kind", "metadata")


def default_errors(schema: Mapping[str, Json], path: str) -> list[FieldError]:
    """What is wrong with the defaults of a schema that is structural."""
    try:
        node = compile_schema(schema, as_written=True)
    except SchemaError:
        return []  # said elsewhere, with the path of the pattern
    return _defaults(replace(node, embedded_resource=True, has_embedded=True), path, None)


@dataclass(frozen=True, slots=True)
class _InMeta:
    """A place inside the apiVersion, kind or metadata of a resource; `steps` lead to it, and None is any item of a list."""

    steps: tuple[str | None, ...]

    def below(self, step: str | None) -> _InMeta:
        return _InMeta((*self.steps, step))

    def resource_with(self, value: Json) -> dict[str, Json]:
        """A resource that has this value here."""
        for step in reversed(self.steps):
            value = [value] if step is None else {step: value}
        return {"apiVersion": "validgroup/v1", "kind": "Validkind", **value}


def _defaults(node: Structural, path: str, place: _InMeta | None) -> list[FieldError]:
    errors: list[FieldError] = []
    if node.default is not None:
        errors += _one_default(node, f"{path}.default") if place is None else _default_in_meta(node, f"{path}.default", place)
    if node.items is not None:
        errors += _defaults(node.items, f"{path}.items", place and place.below(None))
    for name, child in node.properties.items():
        inside = _InMeta((name,)) if node.embedded_resource and name in META_FIELDS else place and place.below(name)
        errors += _defaults(child, f"{path}.properties[{name}]", inside)
    return errors


def _one_default(node: Structural, where: str) -> list[FieldError]:
    errors: list[FieldError] = []
    # Pruning walks objects: put the default into one.
    holder = Structural(properties={"default": node}, has_embedded=node.has_embedded)
    pruned, unknown = prune({"default": copy.deepcopy(node.default)}, holder)
    if unknown and _but_for_metadata(pruned["default"], node) != _but_for_metadata(node.default, node):
        # What metadata does not know has been dropped from the default itself by then, and is not quoted.
        errors.append(causes.invalid(where, _but_for_metadata(node.default, node), "must not have unknown fields"))
    if (problem := embedded_problem({"default": node.default}, holder)) is not None:
        return [*errors, _moved(problem, where)]
    holding = {"default": node.default}
    if embedded := [*embedded_errors(holding, holder), *validate_embedded_metadata(holding, holder)]:
        return [*errors, *(_moved(error, where) for error in embedded)]
    return errors + _value_errors(node, where)


def _but_for_metadata(value: Json, node: Structural) -> Json:
    """The value without what the metadata of embedded resources does not know."""
    value = copy.deepcopy(value)
    for _, resource in embedded_resources(value, node, "default"):
        if isinstance(metadata := resource.get("metadata"), dict):
            resource["metadata"] = prune({"metadata": metadata}, _ANYTHING)[0]["metadata"]
    return value


_ANYTHING = Structural(preserve_unknown=True)


def _default_in_meta(node: Structural, where: str, place: _InMeta) -> list[FieldError]:
    resource = place.resource_with(node.default)
    found = resource_problem(resource, "")
    problems = [found] if found is not None else []
    if not problems:
        holder = Structural(properties={"r": Structural(embedded_resource=True, has_embedded=True)}, has_embedded=True)
        judged = [*embedded_errors({"r": resource}, holder), *validate_embedded_metadata({"r": resource}, holder)]
        problems = [FieldError(error.reason, error.message, (error.field or "").removeprefix("r.")) for error in judged]
    if problems:
        texts = list(dict.fromkeys(f"{problem.field}: {problem.message}" for problem in problems))
        said = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
        return [causes.invalid(where, node.default, f"must result in valid metadata: {said}")]
    return _value_errors(node, where)


def _value_errors(node: Structural, where: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for error in validate_value(node.default, node):
        errors.append(FieldError(error.reason, error.message, where if error.field == NO_FIELD else f"{where}.{error.field}"))
    return errors


def _moved(error: FieldError, where: str) -> FieldError:
    return FieldError(error.reason, error.message, where + (error.field or "").removeprefix("default"))
