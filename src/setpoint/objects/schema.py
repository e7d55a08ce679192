"""From a Python type to a structural OpenAPI v3 schema, as a CustomResourceDefinition has it.

Structural means what the API server insists on: every level says its type, there is no ``$ref`` and no ``anyOf`` with null.
``X | None`` only makes a field optional. The output holds what was said and nothing more, in the order of the class, so that it is
the same every time.
"""

from __future__ import annotations

import inspect
import types
import typing
from datetime import datetime
from decimal import Decimal
from enum import Enum
from typing import Any, Literal

import msgspec

from .codec import encode_value
from .duration import Duration
from .kind_info import KindInfo
from .metadata import Object
from .quantity import Quantity
from .resource import Condition
from .schema_field import Field, Rule
from .shape import Attribute, Shape, attributes_of, shape_of
from .struct import UNSET, is_absent
from .times import MicroTime

Schema = dict[str, Any]

_QUANTITY = r"^[+-]?([0-9]+|[0-9]+\.[0-9]*|\.[0-9]+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+)?$"
_DURATION = r"^[+-]?(0|(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$"

_PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bytes: {"type": "string", "format": "byte"},
    datetime: {"type": "string", "format": "date-time"},
    MicroTime: {"type": "string", "format": "date-time"},
    Quantity: {"pattern": _QUANTITY, "x-kubernetes-int-or-string": True},
    Duration: {"type": "string", "pattern": _DURATION},
    Any: {"x-kubernetes-preserve-unknown-fields": True},
}


class SchemaError(TypeError):
    """A type cannot be described as a structural schema; the message names class and field."""


def schema_of(cls: type[msgspec.Struct]) -> Schema:
    """The schema of a class; of a kind, with the fields that every object has. Raises `SchemaError` for what a schema cannot say."""
    if not issubclass(cls, Object):
        return _Path(()).struct(cls)
    body = _Path(()).struct(cls)
    own = {name: schema for name, schema in body["properties"].items() if name != "metadata"}
    # A new object has no status: that is no default for the server to write. And a spec without requirements may be left out.
    own.get("status", {}).pop("default", None)
    required = [name for name in body.get("required", ()) if own[name].get("required")]
    root: Schema = {
        **({"description": body["description"]} if "description" in body else {}),
        "type": "object",
        "properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}, **own},
    }
    if required:
        root["required"] = required
    info = cls.__dict__.get("__kind__")
    if isinstance(info, KindInfo) and info.cel:
        root["x-kubernetes-validations"] = [_rule(rule) for rule in info.cel]
    return root


class _Path:
    """Where in a class the description is: for messages, and to see a type that contains itself."""

    def __init__(self, steps: tuple[tuple[type[Any], str], ...]) -> None:
        self._steps = steps

    def refuse(self, why: str) -> SchemaError:
        place = ".".join((self._steps[-1][0].__name__, self._steps[-1][1])) if self._steps else "this type"
        return SchemaError(f"{place}: {why}")

    def struct(self, cls: type[Any]) -> Schema:
        schema: Schema = {}
        if description := inspect.cleandoc((typing.get_origin(cls) or cls).__dict__.get("__doc__") or ""):
            schema["description"] = description
        schema["type"] = "object"
        try:
            attributes = attributes_of(cls)
        except TypeError as error:
            raise SchemaError(f"{cls.__name__}: {error}") from error
        properties = {wire: _Path((*self._steps, (cls, attribute.name))).attribute(attribute) for wire, attribute in attributes.items()}
        if properties:
            schema["properties"] = properties
        if required := [wire for wire, attribute in attributes.items() if attribute.required]:
            schema["required"] = required
        return schema

    def attribute(self, attribute: Attribute) -> Schema:
        schema = self.shape(attribute.shape, attribute.wire)
        if not attribute.required:
            default = attribute.default()
            if default is not None and default is not UNSET and not is_absent(default) and default not in ([], {}):
                schema["default"] = encode_value(default)
                if schema["default"] is None:
                    raise self.refuse(f"{default} has no form in JSON, and cannot be a default")
        return schema

    def shape(self, shape: Shape, wire: str) -> Schema:
        schema = self.keywords(shape, dict(self.plain(shape, wire)), wire)
        if shape.nullable:
            schema["nullable"] = True
            if values := schema.pop("enum", None):
                # An enum refuses null, whatever it lists. So it is one of two branches; the other takes no text and no number, but null.
                nothing = {"minLength": 1, "maxLength": 0} if schema.get("type") == "string" else {"minimum": 1, "maximum": 0}
                schema["anyOf"] = [{"enum": values}, nothing]
        return schema

    def plain(self, shape: Shape, wire: str) -> Schema:
        """The type itself, without what `Field` says."""
        plain, origin = shape.plain, typing.get_origin(shape.plain)
        if shape.judged:
            raise self.refuse("msgspec.Meta judges on reading, so that an object of before a bound could not even be repaired: use Field")
        if any(fact.int_or_string for fact in shape.facts):
            return {"x-kubernetes-int-or-string": True}
        if shape.struct is not None:
            return self.nested(shape)
        if shape.is_list:
            if shape.items is None:
                raise self.refuse("a list says what it is a list of: write list[str], for example")
            return {"type": "array", "items": self.shape(shape.items, wire)}
        if shape.is_map:
            return self.map(shape, wire)
        if origin is Literal:
            return self.enumeration(list(typing.get_args(plain)))
        if isinstance(plain, type) and issubclass(plain, Enum):
            return self.enumeration([member.value for member in plain])
        if origin is typing.Union or origin is types.UnionType:
            return self.union(list(typing.get_args(plain)))
        if plain in _PLAIN:
            return _PLAIN[plain]
        if isinstance(plain, typing.TypeVar):
            raise self.refuse(f"what {plain.__name__} is must be said where the class is used, as in Box[int]")
        raise self.refuse(
            f"{_named(plain)} has no form in a schema: use str, int, float, bool, bytes, datetime, Duration, Quantity, list, dict, an enum "
            "or a Struct"
        )

    def nested(self, shape: Shape) -> Schema:
        assert shape.struct is not None
        if any(cls == shape.struct for cls, _ in self._steps):
            if any(fact.preserve_unknown_fields for fact in shape.facts):
                return {"type": "object"}
            cycle = " -> ".join([f"{cls.__name__}.{name}" for cls, name in self._steps] + [shape.struct.__name__])
            raise self.refuse(
                f"a schema cannot contain itself ({cycle}); cut it with Annotated[..., Field(preserve_unknown_fields=True)],"
                " which leaves what is below unchecked"
            )
        return self.struct(shape.struct)

    def map(self, shape: Shape, wire: str) -> Schema:
        arguments = typing.get_args(shape.plain)
        if arguments and not _is_text(arguments[0]):
            raise self.refuse(f"the keys of a map are text in JSON, not {_named(arguments[0])}")
        if shape.items is None or shape.items.plain is Any:
            return {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        return {"type": "object", "additionalProperties": self.shape(shape.items, wire)}

    def enumeration(self, values: list[Any]) -> Schema:
        for kind, schema in ((str, "string"), (bool, "boolean"), (int, "integer")):
            if all(isinstance(value, kind) for value in values):
                return {"type": schema, "enum": values}
        raise self.refuse(f"the values of an enum are all text or all integers, not {values}")

    def union(self, parts: list[Any]) -> Schema:
        if all(part in (int, str) for part in parts):
            return {"x-kubernetes-int-or-string": True}
        if all(part in (int, float) for part in parts):
            return {"type": "number"}
        raise self.refuse(
            f"a schema has no form for {' | '.join(map(_named, parts))}; of unions there are X | None, int | str and int | float."
            " Use one optional field for each, or Annotated[Any, Field(preserve_unknown_fields=True)]"
        )

    def keywords(self, shape: Shape, schema: Schema, wire: str) -> Schema:
        """What `Field` says, in a fixed order."""
        facts = shape.facts
        for fact in facts:
            schema |= _bounds(fact)
        list_type = next((fact.list_type for fact in facts if fact.list_type), None)
        map_keys = shape.map_keys
        if shape.is_list and list_type is None and shape.items is not None and shape.items.struct is Condition:
            list_type, map_keys = "map", ("type",)
        if list_type == "set":
            self.check_set(shape)
        if list_type:
            schema["x-kubernetes-list-type"] = list_type
        if map_keys:
            self.check_map_keys(shape, map_keys)
            schema["x-kubernetes-list-map-keys"] = list(map_keys)
        rules = [rule for fact in facts for rule in fact.cel]
        if any(fact.immutable for fact in facts):
            rules.append(Rule("self == oldSelf", f"{wire} is immutable"))
        if rules:
            schema["x-kubernetes-validations"] = [_rule(rule) for rule in rules]
        for fact in facts:
            schema |= fact.schema
        return schema

    def check_set(self, shape: Shape) -> None:
        items = shape.items
        if items is not None and any(fact.map_type == "atomic" for fact in items.facts):
            return
        if items is None or items.is_list or items.is_map or items.struct is not None:
            raise self.refuse(
                'list_type="set" is for a list of plain values. Structs are told apart by list_map_keys; or each is a value as a whole, '
                'with Field(map_type="atomic")'
            )

    def check_map_keys(self, shape: Shape, keys: tuple[str, ...]) -> None:
        if shape.items is None or shape.items.struct is None:
            raise self.refuse("list_map_keys is for a list of Structs")
        struct, attributes = shape.items.struct, attributes_of(shape.items.struct)
        for key in keys:
            if key not in attributes:
                raise self.refuse(f"list_map_keys names {key!r}, which {struct.__name__} does not have on the wire")
            if not attributes[key].required and "default" not in self.attribute(attributes[key]):
                raise self.refuse(
                    f"list_map_keys names {key!r}, which may be left out: require it in {struct.__name__}, or give it a default"
                )


def _bounds(fact: Field) -> Schema:
    schema: Schema = {}
    for keyword, value in (("description", fact.description), ("title", fact.title), ("format", fact.format), ("pattern", fact.pattern)):
        if value is not None:
            schema[keyword] = value
    if fact.enum:
        schema["enum"] = [encode_value(value) for value in fact.enum]
    for keyword, bound, excluded in (("minimum", fact.ge, fact.gt), ("maximum", fact.le, fact.lt)):
        if bound is not None:
            schema[keyword] = _number(bound)
        if excluded is not None:
            schema[keyword] = _number(excluded)
            schema[f"exclusive{keyword.capitalize()}"] = True
    if fact.multiple_of is not None:
        schema["multipleOf"] = _number(fact.multiple_of)
    for keyword, size in (
        ("minLength", fact.min_length),
        ("maxLength", fact.max_length),
        ("minItems", fact.min_items),
        ("maxItems", fact.max_items),
        ("minProperties", fact.min_properties),
        ("maxProperties", fact.max_properties),
    ):
        if size is not None:
            schema[keyword] = size
    if fact.example is not None:
        schema["example"] = encode_value(fact.example)
    if fact.map_type:
        schema["x-kubernetes-map-type"] = fact.map_type
    if fact.preserve_unknown_fields:
        schema["x-kubernetes-preserve-unknown-fields"] = True
    if fact.embedded_resource:
        schema["x-kubernetes-embedded-resource"] = True
    return schema


def _rule(rule: Rule) -> dict[str, Any]:
    spelled = {
        "rule": rule.rule,
        "message": rule.message,
        "messageExpression": rule.message_expression,
        "reason": rule.reason,
        "fieldPath": rule.field_path,
        "optionalOldSelf": rule.optional_old_self,
    }
    return {name: value for name, value in spelled.items() if value is not None}


def _number(value: float) -> float:
    """The number as the server, to which each is a float, writes it."""
    number = float(value)
    return int(Decimal(repr(number))) if number.is_integer() and abs(number) < 1e21 else number


def _is_text(hint: Any) -> bool:
    plain = shape_of(hint).plain
    if typing.get_origin(plain) is Literal:
        return all(isinstance(value, str) for value in typing.get_args(plain))
    return isinstance(plain, type) and issubclass(plain, str)


def _named(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) and not typing.get_args(hint) else str(hint).replace("typing.", "")
