"""`Field`: what a class says about a field beyond its type, as ``Annotated[int, Field(ge=0, le=100)]``.

It goes into the schema and nowhere else. Reading does not judge: a stored object that a newer, tighter bound would refuse can still be read
(and repaired). The API server judges, on every write. See "Extend the Kubernetes API with CustomResourceDefinitions" for what each means.
"""

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple


class Rule(NamedTuple):
    """A validation rule in the Common Expression Language (``x-kubernetes-validations``)."""

    rule: str
    message: str | None = None
    message_expression: str | None = None
    reason: str | None = None
    field_path: str | None = None
    optional_old_self: bool | None = None


class Field:
    """Schema of one field (or, inside a list's or map's type, of its items). Never enforced on reading.

    ``name``: the wire's spelling, where the rule of `api_name` gives another one. ``nullable``: null is a value of its own.
    ``cel``: rules as text, or as `Rule` with a message. ``immutable`` is the rule ``self == oldSelf``.
    ``list_type``: "atomic", "set" or "map"; stating ``list_map_keys`` implies "map".
    ``schema``: further keywords, laid over the rest as they are.
    """

    __slots__ = (
        "cel", "description", "embedded_resource", "enum", "example", "format", "ge", "gt", "immutable",
        "int_or_string", "le", "list_map_keys", "list_type", "lt", "map_type", "max_items", "max_length",
        "max_properties", "min_items", "min_length", "min_properties", "multiple_of", "name", "nullable", "pattern",
        "preserve_unknown_fields", "schema", "title",
    )  # fmt: skip

    def __init__(
        self,
        *,
        name: str | None = None,
        description: str | None = None,
        title: str | None = None,
        ge: float | None = None,
        gt: float | None = None,
        le: float | None = None,
        lt: float | None = None,
        multiple_of: float | None = None,
        min_length: int | None = None,
        max_length: int | None = None,
        pattern: str | None = None,
        format: str | None = None,
        enum: Sequence[Any] = (),
        min_items: int | None = None,
        max_items: int | None = None,
        min_properties: int | None = None,
        max_properties: int | None = None,
        list_type: Literal["atomic", "set", "map"] | None = None,
        list_map_keys: Sequence[str] = (),
        map_type: Literal["atomic", "granular"] | None = None,
        nullable: bool = False,
        immutable: bool = False,
        cel: Sequence[str | Rule] = (),
        int_or_string: bool = False,
        preserve_unknown_fields: bool = False,
        embedded_resource: bool = False,
        example: Any = None,
        schema: dict[str, Any] | None = None,
    ) -> None:
        if isinstance(cel, str):
            raise TypeError("Field(cel=...) takes a list of rules; write cel=[...]")
        if list_map_keys and list_type not in (None, "map"):
            raise TypeError(f'Field(list_map_keys=...) makes a list of type "map", not "{list_type}"')
        if list_type == "map" and not list_map_keys:
            raise TypeError('Field(list_type="map") needs list_map_keys: what tells the items apart?')
        for what, bound in (("ge", ge), ("gt", gt), ("le", le), ("lt", lt), ("multiple_of", multiple_of)):
            if bound is not None and not math.isfinite(bound):
                raise ValueError(f"Field({what}={bound}): JSON has no such number")
        self.name: str | None = name
        self.description: str | None = description
        self.title: str | None = title
        self.ge: float | None = ge
        self.gt: float | None = gt
        self.le: float | None = le
        self.lt: float | None = lt
        self.multiple_of: float | None = multiple_of
        self.min_length: int | None = min_length
        self.max_length: int | None = max_length
        self.pattern: str | None = pattern
        self.format: str | None = format
        self.enum: tuple[Any, ...] = tuple(enum)
        self.min_items: int | None = min_items
        self.max_items: int | None = max_items
        self.min_properties: int | None = min_properties
        self.max_properties: int | None = max_properties
        self.list_type = "map" if list_map_keys else list_type
        self.list_map_keys: tuple[str, ...] = tuple(list_map_keys)
        self.map_type = map_type
        self.nullable: bool = nullable
        self.immutable: bool = immutable
        self.cel: tuple[Rule, ...] = tuple(rule if isinstance(rule, Rule) else Rule(rule) for rule in cel)
        self.int_or_string: bool = int_or_string
        self.preserve_unknown_fields: bool = preserve_unknown_fields
        self.embedded_resource: bool = embedded_resource
        self.example: Any = example
        self.schema: dict[str, Any] = dict(schema or {})

    def __repr__(self) -> str:
        stated = ((name, getattr(self, name)) for name in self.__slots__)
        return f"Field({', '.join(f'{name}={value!r}' for name, value in stated if value not in (None, False, (), {}))})"
