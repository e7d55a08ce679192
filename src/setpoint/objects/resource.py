"""Declaring a kind: `Resource`, for a spec and a status, `Condition`, and the decorator `@kind`.

A declaration only: nothing is registered anywhere. A `Scheme`, of a manager or a client, is told which kinds there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Any, Generic, TypeVar, get_args, get_origin

import msgspec
from msgspec import NODEFAULT

from .kind_info import Column, KindInfo, Scale, Scope
from .metadata import Object
from .schema_field import Field, Rule
from .struct import Struct, field

SpecT = TypeVar("SpecT", bound=Struct)
StatusT = TypeVar("StatusT", bound=Struct)
ObjectT = TypeVar("ObjectT", bound=Object)


def _unpinned() -> Any:
    raise TypeError("a Resource has no status of its own: subclass Resource[Spec, Status]")


class Resource(Object, Generic[SpecT, StatusT]):
    """A kind with the two halves that Kubernetes knows: ``spec``, what is wanted, and ``status``, what is.

    Status is a subresource: it is written by requests of its own. While the server has none, it reads as ``Status()``.
    """

    spec: SpecT
    status: StatusT = field(default_factory=_unpinned)

    @classmethod
    def __pin__(cls, name: str, arguments: tuple[Any, ...]) -> dict[str, tuple[Any, Any]]:
        spec, status = arguments
        for half in (spec, status):
            bare = get_args(half)[0] if get_origin(half) is Annotated else half
            if not (isinstance(bare, type) and issubclass(bare, msgspec.Struct)):
                raise TypeError(f"{name}: Resource[Spec, Status] takes two Struct classes, not {half!r}")
        status = get_args(status)[0] if get_origin(status) is Annotated else status
        required = [f.name for f in msgspec.structs.fields(status) if f.required]
        if required:
            raise TypeError(
                f"{name}: {status.__name__}.{required[0]} needs a default. Every new object has no status, and reads as {status.__name__}()"
            )
        return {"spec": (spec, NODEFAULT), "status": (arguments[1], field(default_factory=status))}


class Condition(Struct):
    """One aspect of an object's state: whether it holds, since when, and why."""

    # As in meta/v1. The reason is one CamelCase word for programs, the message a sentence for people.
    type: Annotated[str, Field(max_length=316)]
    status: Annotated[str, Field(enum=["True", "False", "Unknown"])]
    reason: Annotated[str, Field(min_length=1, max_length=1024)]
    message: Annotated[str, Field(max_length=32768)] = ""
    observed_generation: Annotated[int | None, Field(ge=0)] = None
    last_transition_time: datetime | None = None


def kind(
    *,
    group: str,
    version: str,
    scope: Scope = "Namespaced",
    name: str | None = None,
    plural: str | None = None,
    singular: str | None = None,
    short_names: Sequence[str] = (),
    categories: Sequence[str] = (),
    columns: Sequence[Column] = (),
    scale: Scale | None = None,
    selectable_fields: Sequence[str] = (),
    has_status: bool | None = None,
    cel: Sequence[str | Rule] = (),
    deprecated: bool | str = False,
    served: bool = True,
    stored: bool = False,
) -> Callable[[type[ObjectT]], type[ObjectT]]:
    """Declares a class to be a kind of the API; read it back with `kind_of`.

    The kind is called as the class unless ``name`` says otherwise, its ``plural`` follows English. ``group`` is "" for the core group.
    ``has_status``: whether status is a subresource; it is wherever the class has one, but for some built-in kinds.

    ``selectable_fields``: JSON paths such as ``.spec.color`` by which lists and watches can be selected, up to eight, each of a text, a
    whole number or a boolean; `crd` raises `SchemaError` for one that the class does not have.
    ``cel``: validation rules on the object as a whole (of its metadata they see the name only); rules on spec, status or a field go into
    ``Annotated[..., Field(cel=[...])]``. Of several versions of one kind: ``deprecated``: the server warns whoever uses this one, with
    your text if you give one; ``served=False``: it no longer answers for this one; ``stored``: objects are stored in this one.
    """
    for what, given in (("short_names", short_names), ("categories", categories), ("selectable_fields", selectable_fields), ("cel", cel)):
        if isinstance(given, str):
            raise TypeError(f"@kind({what}=...) takes a list: write {what}=[{given!r}]")

    def declare(cls: type[ObjectT]) -> type[ObjectT]:
        if not (isinstance(cls, type) and issubclass(cls, Object)):
            raise TypeError(f"@kind decorates a subclass of Resource[Spec, Status] or Object, not {cls!r}")
        called = name or cls.__name__
        info = KindInfo(
            group=group,
            version=version,
            kind=called,
            plural=plural or plural_of(called.lower()),
            singular=singular or called.lower(),
            list_kind=f"{called}List",
            scope=scope,
            short_names=tuple(short_names),
            categories=tuple(categories),
            columns=tuple(columns),
            scale=scale,
            selectable_fields=tuple(selectable_fields),
            has_status="status" in cls.__struct_fields__ if has_status is None else has_status,
            cel=tuple(rule if isinstance(rule, Rule) else Rule(rule) for rule in cel),
            deprecated=deprecated,
            served=served,
            stored=stored,
        )
        type.__setattr__(cls, "__kind__", info)
        return cls

    return declare


def plural_of(singular: str) -> str:
    """The usual English plural: ``webapps``, ``policies``, ``ingresses``, ``gateways``."""
    if singular.endswith("y") and singular[-2:-1] not in "aeiou":
        return singular[:-1] + "ies"
    if singular.endswith(("s", "x", "z", "ch", "sh")):
        return singular + "es"
    return singular + "s"
