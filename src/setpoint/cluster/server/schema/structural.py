"""A schema, read once: the tree that pruning, defaulting and validation walk.

Two dialects come in. The schema of a custom resource is *structural*: complete in itself, every field has a type. That of a built-in kind
is a definition of the published OpenAPI v3 document, with `$ref`s into `definitions`; there null stands for absent everywhere, since the
real server decodes those kinds into Go structs, and an object without fields of its own (`RawExtension`, `FieldsV1`) holds anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from setpoint.cluster.server.schema.formats import known_format
from setpoint.cluster.server.schema.pattern import Pattern, compile_pattern

Json = Any
"""A plain JSON value: None, bool, int, float, str, list or dict."""

_REF_PREFIX = "#/components/schemas/"
_ANNOTATIONS = frozenset(
    ("description", "default", "title", "example", "externalDocs", "x-kubernetes-map-type", "x-kubernetes-patch-strategy")
)


class SchemaError(ValueError):
    """The schema itself cannot be used: a pattern that is no RE2 expression, a reference to nowhere."""


@dataclass(slots=True, eq=False)
class Structural:
    """One node of a schema. Read-only once `compile_schema` has returned it."""

    types: tuple[str, ...] = ()
    format: str = ""
    nullable: bool = False
    default: Json = None
    """The default, or None: a null default is no default, as in Kubernetes."""

    properties: dict[str, Structural] = field(default_factory=dict)
    open: bool = False
    """Whether `additionalProperties` is there: then pruning drops no key, not even where it is false, which is for validation to refuse."""
    closed: bool = False
    """Whether `additionalProperties` is false."""
    additional: Structural | None = None
    items: Structural | None = None

    preserve_unknown: bool = False
    embedded_resource: bool = False
    list_type: str = ""
    map_keys: tuple[str, ...] = ()

    required: tuple[str, ...] = ()
    enum: list[Json] = field(default_factory=list)
    minimum: float | None = None
    maximum: float | None = None
    exclusive_minimum: bool = False
    exclusive_maximum: bool = False
    multiple_of: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str = ""
    matcher: Pattern | None = None
    min_items: int | None = None
    max_items: int | None = None
    unique_items: bool = False
    min_properties: int | None = None
    max_properties: int | None = None
    all_of: tuple[Structural, ...] = ()
    any_of: tuple[Structural, ...] = ()
    one_of: tuple[Structural, ...] = ()
    not_: Structural | None = None
    branching: bool = False
    """Whether there is any of the four."""

    plain: tuple[type, ...] = ()
    """The Python types of which every value is accepted; none where there is more to check."""
    has_defaults: bool = False
    """Whether this node or one below it has a default (true wherever the schema refers to itself)."""
    has_list_rules: bool = False
    """Whether a list below this node is a set or a map."""
    has_embedded: bool = False
    """Whether an embedded resource is at this node or below it."""


def compile_schema(
    schema: Mapping[str, Json], definitions: Mapping[str, Mapping[str, Json]] | None = None, *, as_written: bool = False
) -> Structural:
    """Read `schema` into a tree.

    Formats that say nothing about a value of the node's type are forgotten, and int-or-string gives a node two types; but not `as_written`,
    which is how the defaults of a schema are judged.

    With `definitions` (name to schema, as under `components.schemas`) the schema is one of a built-in kind, see above.
    Raises SchemaError.
    """
    return _Compiler(definitions, as_written).node(schema)


def compiler_of(definitions: Mapping[str, Mapping[str, Json]]) -> Callable[[Mapping[str, Json]], Structural]:
    """What compiles schemas of built-in kinds that have these definitions in common: each definition is compiled once for all of them."""
    return _Compiler(definitions, as_written=False).node


class _Compiler:
    def __init__(self, definitions: Mapping[str, Mapping[str, Json]] | None, as_written: bool) -> None:
        self._as_written = as_written
        self._definitions = definitions or {}
        self._builtin = definitions is not None
        self._referred: dict[str, Structural] = {}

    def node(self, schema: Mapping[str, Json]) -> Structural:
        reference = _reference(schema)
        if reference is not None:
            return self._refer(reference)
        return self._fill(Structural(), schema)

    def _refer(self, reference: str) -> Structural:
        name = reference.removeprefix(_REF_PREFIX)
        if name not in self._referred:
            if name not in self._definitions:
                raise SchemaError(f"schema reference to {reference} leads nowhere")
            # The node is known before it is filled, so that a definition may refer to itself.
            node = self._referred[name] = Structural(has_defaults=True, has_list_rules=True)
            self._fill(node, self._definitions[name])
        return self._referred[name]

    def _fill(self, node: Structural, schema: Mapping[str, Json]) -> Structural:
        int_or_string = schema.get("x-kubernetes-int-or-string") is True and not self._as_written
        kind = schema.get("type")
        node.types = ("integer", "string") if int_or_string else (kind,) if kind else ()
        written = schema.get("format") or ""
        node.format = written if self._as_written else known_format(node.types, written)
        node.nullable = schema.get("nullable") is True or self._builtin
        node.default = None if self._builtin else schema.get("default")

        # In the order of names: the real server's order is random, ours must not be.
        node.properties = {name: self.node(child) for name, child in sorted((schema.get("properties") or {}).items())}
        additional = schema.get("additionalProperties")
        node.closed = additional is False
        node.open = additional is not None
        node.additional = self.node(additional) if isinstance(additional, Mapping) else None
        items = schema.get("items")
        node.items = self.node(items) if isinstance(items, Mapping) else None

        node.preserve_unknown = schema.get("x-kubernetes-preserve-unknown-fields") is True
        if self._builtin and not node.properties and not node.open and node.items is None:
            node.preserve_unknown = True
        node.embedded_resource = schema.get("x-kubernetes-embedded-resource") is True
        node.list_type = schema.get("x-kubernetes-list-type") or ""
        node.map_keys = tuple(schema.get("x-kubernetes-list-map-keys") or ())
        self._fill_validations(node, schema)

        node.plain = _plain_types(node)
        children = [*node.properties.values(), *(child for child in (node.additional, node.items) if child is not None)]
        node.has_defaults = any(child.default is not None or child.has_defaults for child in children)
        node.has_list_rules = node.list_type in ("set", "map") or any(child.has_list_rules for child in children)
        node.has_embedded = node.embedded_resource or any(child.has_embedded for child in children)
        return node

    def _fill_validations(self, node: Structural, schema: Mapping[str, Json]) -> None:
        node.required = tuple(schema.get("required") or ())
        node.enum = list(schema.get("enum") or ())
        node.minimum = schema.get("minimum")
        node.maximum = schema.get("maximum")
        node.exclusive_minimum = schema.get("exclusiveMinimum") is True
        node.exclusive_maximum = schema.get("exclusiveMaximum") is True
        node.multiple_of = schema.get("multipleOf")
        node.min_length = schema.get("minLength")
        node.max_length = schema.get("maxLength")
        node.pattern = schema.get("pattern") or ""
        if node.pattern:
            try:
                node.matcher = compile_pattern(node.pattern)
            except ValueError as error:
                raise SchemaError(f"pattern {node.pattern!r}: {error}") from error
        node.min_items = schema.get("minItems")
        node.max_items = schema.get("maxItems")
        node.unique_items = schema.get("uniqueItems") is True
        node.min_properties = schema.get("minProperties")
        node.max_properties = schema.get("maxProperties")
        node.all_of = tuple(self.node(branch) for branch in schema.get("allOf") or ())
        node.any_of = tuple(self.node(branch) for branch in schema.get("anyOf") or ())
        node.one_of = tuple(self.node(branch) for branch in schema.get("oneOf") or ())
        not_ = schema.get("not")
        node.not_ = self.node(not_) if isinstance(not_, Mapping) else None
        node.branching = bool(node.all_of or node.any_of or node.one_of or node.not_ is not None)


def _plain_types(node: Structural) -> tuple[type, ...]:
    if node.enum or node.branching:
        return ()
    free_text = node.format == "" and node.max_length is None and node.min_length is None and node.matcher is None
    unbounded = node.maximum is None and node.minimum is None and node.multiple_of is None
    match node.types:
        case ("string",) if free_text:
            return (str,)
        case ("boolean",) if node.format == "":
            return (bool,)
        case ("integer",) if unbounded and node.format != "int32":
            return (int,)  # decoding has made sure that it fits 64 bits
        case ("number",) if unbounded and node.format != "float":
            return (int, float)
        case ("integer", "string") if unbounded and free_text:
            return (int, str)
    return ()


def _reference(schema: Mapping[str, Json]) -> str | None:
    """The reference that `schema` is, be it bare or wrapped in an `allOf` of one to carry a description or a default."""
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return reference
    branches = schema.get("allOf")
    if branches and len(branches) == 1 and "$ref" in branches[0] and all(key == "allOf" or key in _ANNOTATIONS for key in schema):
        return str(branches[0]["$ref"])
    return None
