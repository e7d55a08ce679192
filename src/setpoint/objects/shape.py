"""The shape of a class as JSON: which wire name is which attribute, what may be null, what is a list of what.

Kept on the class itself, and made when first asked for: reading leniently, comparing and describing (as a schema) all need it.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable
from functools import wraps
from itertools import repeat
from typing import Annotated, Any, TypeVar, cast

import msgspec
from msgspec import UnsetType
from typing_extensions import TypeAliasType

from .schema_field import Field

R = TypeVar("R")

_ALIASES = (TypeAliasType, getattr(typing, "TypeAliasType", TypeAliasType))
"""What a statement `type Port = ...` makes, and what stands for it on Pythons that have no such statement: another class until 3.14."""


def kept_on_class(function: Callable[[type[Any]], R]) -> Callable[[type[Any]], R]:
    """Remembers a function of a class, for as long as that class lives: code that is loaded afresh brings classes of its own."""
    attribute = f"__setpoint_{function.__name__}__"

    @wraps(function)
    def remembered(cls: type[Any]) -> R:
        try:
            return cast(R, cls.__dict__[attribute])
        except KeyError:
            pass  # what the function raises would else be told as an error during the handling of this one
        result = function(cls)
        type.__setattr__(cls, attribute, result)
        return result

    return remembered


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """One type, taken apart. ``plain`` is it without ``Annotated``, ``None`` and ``UnsetType``."""

    plain: Any
    optional: bool = False
    """None is in the type."""
    unsettable: bool = False
    """`UnsetType` is in the type: null is a value of its own."""
    facts: tuple[Field, ...] = ()
    judged: bool = False
    """msgspec would refuse to read some values of the type: a `msgspec.Meta` is in it."""
    struct: type[msgspec.Struct] | None = None
    """The class; with its type arguments, where it is generic."""
    items: Shape | None = None
    """What a list or the values of a map are."""
    is_list: bool = False
    is_map: bool = False

    @property
    def map_keys(self) -> tuple[str, ...]:
        """What tells the items of this list apart, as far as the class says it."""
        return next((fact.list_map_keys for fact in self.facts if fact.list_map_keys), ())

    @property
    def nullable(self) -> bool:
        """Whether null is a value of its own, not a way to say "absent"."""
        return self.unsettable or any(fact.nullable for fact in self.facts)


class Attribute(msgspec.Struct, frozen=True, kw_only=True):
    """One field of a class: its name here, its name on the wire, its shape, its default (a factory's result is made anew by `default`)."""

    name: str
    wire: str
    shape: Shape
    required: bool
    default: Callable[[], Any]


def attributes_of(struct: type[Any]) -> dict[str, Attribute]:
    """The fields of a class, or of a generic class with type arguments, by their wire names, in their order."""
    if isinstance(struct, type):
        return _attributes_of_class(struct)
    known = _attributes_with_arguments(typing.get_origin(struct))
    if struct not in known:
        known[struct] = _attributes(struct)
    return known[struct]


@kept_on_class
def _attributes_of_class(struct: type[Any]) -> dict[str, Attribute]:
    return _attributes(struct)


@kept_on_class
def _attributes_with_arguments(generic: type[Any]) -> dict[Any, dict[str, Attribute]]:
    return {}


def _attributes(struct: Any) -> dict[str, Attribute]:
    attributes = {}
    try:
        fields = msgspec.structs.fields(struct)
    except NameError as error:
        named = getattr(struct, "__name__", str(struct))
        raise TypeError(f"the type of a field of {named} is not to be found: {error}; import it, or define it at top level") from error
    for info in fields:
        factory = cast(Callable[[], Any], info.default_factory)
        attributes[info.encode_name] = Attribute(
            name=info.name,
            wire=info.encode_name,
            shape=shape_of(info.type),
            required=info.required,
            default=factory if info.default is msgspec.NODEFAULT else repeat(info.default).__next__,
        )
    return attributes


def shape_of(hint: Any, _within: tuple[Any, ...] = ()) -> Shape:
    """Takes a type apart. Raises `TypeError` for an alias that stands for itself."""
    facts: list[Field] = []
    optional = unsettable = judged = False
    while True:
        origin = typing.get_origin(hint)
        if origin is Annotated:
            hint, *extras = typing.get_args(hint)
            facts.extend(extra for extra in extras if isinstance(extra, Field))
            judged = judged or any(isinstance(extra, msgspec.Meta) for extra in extras)
        elif origin in (typing.Union, types.UnionType):
            rest = [part for part in typing.get_args(hint) if part not in (type(None), UnsetType)]
            optional = optional or type(None) in typing.get_args(hint)
            unsettable = unsettable or UnsetType in typing.get_args(hint)
            if len(rest) == len(typing.get_args(hint)) or not rest:
                break
            hint = typing.Union[tuple(rest)] if len(rest) > 1 else rest[0]  # noqa: UP007  # made of a list
        elif isinstance(hint, _ALIASES) or isinstance(origin, _ALIASES):
            alias, arguments = origin or hint, typing.get_args(hint)
            if alias in _within:
                raise TypeError(f"the type {alias.__name__} contains itself, which no schema can: cut it with Any")
            _within = (*_within, alias)
            hint = alias.__value__[arguments] if arguments else alias.__value__
        elif isinstance(hint, typing.NewType):
            hint = hint.__supertype__
        else:
            break
    plain = typing.get_origin(hint) or hint
    arguments = typing.get_args(hint)
    is_struct = isinstance(plain, type) and issubclass(plain, msgspec.Struct)
    is_list, is_map = plain is list, plain is dict
    items = shape_of(arguments[0] if is_list else arguments[1], _within) if (is_list or is_map) and arguments else None
    return Shape(
        plain=hint,
        optional=optional,
        unsettable=unsettable,
        facts=tuple(facts),
        judged=judged,
        struct=hint if is_struct else None,
        items=items,
        is_list=is_list,
        is_map=is_map,
    )
