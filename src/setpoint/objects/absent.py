"""`absent`: the stand-in for a struct that is not on the wire."""

from __future__ import annotations

import typing
from collections.abc import Callable
from typing import Annotated, Any, TypeVar, cast

import msgspec
from msgspec import NODEFAULT, StructMeta, field

from .frozen import FrozenDict, FrozenList

T = TypeVar("T")


def is_absent(value: object) -> bool:
    """Whether this is what `absent` gives: a struct that is not on the wire."""
    return "__absent_from__" in type(value).__dict__


def absent(struct: type[T], /) -> T:
    """The stand-in for a struct that is not on the wire: reads as empty, is falsy and read-only, is never sent.

    There is one for each class. It is the same one after copy, deepcopy and pickle, and equal to
    nothing but itself: ``{}`` is not "not there".
    """
    if "__absent__" not in struct.__dict__:
        type.__setattr__(struct, "__absent__", _make_absent(struct))
    return cast(T, struct.__dict__["__absent__"])


def _make_absent(struct: type[Any]) -> Any:
    if not (isinstance(struct, type) and issubclass(struct, msgspec.Struct)):
        raise TypeError(f"absent() takes a Struct class, not {struct!r}")
    refuse = _refusal(struct)
    hints: dict[str, Any] = {}
    namespace: dict[str, Any] = {
        "__module__": struct.__module__,
        "__qualname__": f"absent({struct.__qualname__})",
        "__annotations__": hints,
        "__absent_from__": {},
        "__bool__": lambda self: False,
        "__copy__": lambda self: self,
        "__deepcopy__": lambda self, memo: self,
        "__reduce__": lambda self: (absent, (struct,)),
        "__repr__": lambda self: f"absent({struct.__name__})",
        "__eq__": lambda self, other: self is other,
        "__hash__": lambda self: hash(struct.__qualname__),
        # Every value is the very object that is the default, so that even a stand-in put where it is no default is sent as {}.
        **dict(_emptied(struct, refuse)),
        # msgspec.structs.replace calls this; so does making the one instance, but then it is not there yet.
        "__post_init__": lambda self: refuse() if "__absent__" in struct.__dict__ else None,
    }
    hints.update(dict.fromkeys((name for name in struct.__struct_fields__ if name in namespace), Any))
    # Not by SetpointMeta: here a default shall be dropped by identity. `frozen` lets msgspec take it as a default.
    cls = StructMeta.__new__(type(struct), f"absent({struct.__name__})", (struct,), namespace, kw_only=True, frozen=True)
    stand_in = cls()
    for forbidden in ("__setattr__", "__delattr__"):
        type.__setattr__(cls, forbidden, lambda self, *_: refuse())
    return stand_in


def _emptied(struct: type[Any], refuse: Callable[[], Any]) -> typing.Iterator[tuple[str, Any]]:
    try:
        infos = msgspec.structs.fields(struct)
    except NameError as error:
        raise TypeError(f"absent({struct.__name__}) needs all its types defined before it: {error}") from error
    for info in infos:
        if info.default is not NODEFAULT:
            value = info.default
        elif info.default_factory is not NODEFAULT:
            value = _read_only(cast(Callable[[], Any], info.default_factory)(), refuse)
        else:
            value = _zero(info.type, refuse)
        if is_absent(value):
            type(value).__absent_from__[info.name] = None
        yield info.name, field(default=value, name=info.encode_name)


def _read_only(value: Any, refuse: Callable[[], Any]) -> Any:
    """A default that nobody can change for all others."""
    if isinstance(value, msgspec.Struct):
        return absent(type(value))
    if isinstance(value, (list, set)):
        return FrozenList(value, refuse)
    return FrozenDict(value, refuse) if isinstance(value, dict) else value


def _zero(hint: Any, refuse: Callable[[], Any]) -> Any:
    """What Go would call the zero value of a type, read-only."""
    if typing.get_origin(hint) is Annotated:
        return _zero(typing.get_args(hint)[0], refuse)
    plain = typing.get_origin(hint) or hint
    if plain is list:
        return FrozenList((), refuse)
    if plain is dict:
        return FrozenDict({}, refuse)
    if isinstance(plain, type) and issubclass(plain, msgspec.Struct):
        return absent(plain)
    if plain is typing.Literal:
        return "" if isinstance(typing.get_args(hint)[0], str) else None
    return plain() if plain in (str, int, float, bool, bytes) else None


def _refusal(struct: type[Any]) -> Callable[[], Any]:
    def refuse() -> typing.NoReturn:
        names = " or ".join(struct.__dict__["__absent__"].__absent_from__) or f"this {struct.__name__}"
        article = "an" if struct.__name__[0] in "AEIO" else "a"
        raise AttributeError(f"{names} is absent: assign {article} {struct.__name__}")

    return refuse
