"""One step of a field path, in the text form that managedFields uses.

An element is a plain string whose first two characters say what it selects:

======== ===================================================== =======================
``f:``   a field of a struct or a key of a map                 the raw name
``k:``   the item of an associative list with these key fields a JSON object, names sorted
``v:``   the item of a set with this value                     a JSON scalar
``i:``   an item by position                                   a decimal integer
======== ===================================================== =======================

Strings make elements cheap to hash, compare and write out, provided that one element has one spelling. So every element that is built
here or read with `canonical` is in *canonical form*: numbers as short as they go (``1.0`` is ``1``), keys sorted, and the same escapes as
the Kubernetes API server writes.
"""

import json
import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from json.encoder import encode_basestring
from typing import Any

__all__ = ["MalformedElement", "canonical", "display", "field", "in_order", "key", "order", "value"]


class MalformedElement(ValueError):
    """An element with a known prefix whose rest cannot be read."""


def field(name: str) -> str:
    """The element of a struct field or map key."""
    return "f:" + name


def key(names: Sequence[str], values: Sequence[Any]) -> str:
    """The element of an associative list's item. ``names`` are sorted, ``values`` are their JSON values in the same order."""
    return "k:{" + ",".join([f"{_text(name)}:{_json(item)}" for name, item in zip(names, values, strict=True)]) + "}"


def value(item: Any) -> str:
    """The element of a set's item."""
    return "v:" + _json(item)


@lru_cache(maxsize=16384)
def canonical(element: str) -> str | None:
    """The canonical spelling of an element as read from the wire; None if its kind is unknown (such elements are dropped).

    Raises MalformedElement if the kind is known and the rest is not what the kind demands.
    """
    prefix, rest = element[:2], element[2:]
    if prefix == "f:":
        return element
    if len(prefix) < 2 or prefix[1] != ":":
        raise MalformedElement(f"not a path element: {element!r}")
    if prefix not in ("k:", "v:", "i:"):
        return None
    try:
        read = int(rest) if prefix == "i:" else json.loads(rest, parse_constant=_no_constant)
    except ValueError as why:
        raise MalformedElement(f"malformed path element {element!r}: {why}") from why
    if prefix == "i:":
        return f"i:{read}"
    if prefix == "v:":
        return value(read)
    if not isinstance(read, dict):
        raise MalformedElement(f"malformed path element {element!r}: a key is a JSON object")
    names = sorted(read)
    return key(names, [read[name] for name in names])


@lru_cache(maxsize=16384)
def order(element: str) -> tuple[Any, ...]:
    """A sort key: fields by name, then list keys, then set values, then positions."""
    rest = element[2:]
    match element[:2]:
        case "f:":
            return (0, rest)
        case "k:":
            return (1, tuple((name, _value_order(item)) for name, item in json.loads(rest).items()))
        case "v:":
            return (2, _value_order(json.loads(rest)))
        case _:
            return (3, int(rest))


def in_order(found: Iterable[str]) -> list[str]:
    """The elements in their order."""
    ordered = sorted(found)
    if ordered and not (ordered[0][:2] == "f:" == ordered[-1][:2]):  # fields alone are in order as they are written
        ordered.sort(key=order)
    return ordered


def display(element: str) -> str:
    """The element as people read it in messages: ``.name``, ``[name="a"]``, ``[="a"]``, ``[3]``."""
    rest = element[2:]
    match element[:2]:
        case "f:":
            return "." + rest
        case "k:":
            return "[" + ",".join([f"{name}={_shown(item)}" for name, item in json.loads(rest).items()]) + "]"
        case "v:":
            return f"[={_shown(json.loads(rest))}]"
        case _:
            return f"[{rest}]"


def _shown(item: Any) -> str:
    return json.dumps(item, ensure_ascii=False)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _value_order(item: Any) -> tuple[Any, ...]:
    """Numbers, strings, booleans, lists, maps, null: in this order, so that values of different types can be sorted together."""
    match item:
        case bool():
            return (2, item)
        case int() | float():
            return (0, item)
        case str():
            return (1, item)
        case list():
            return (3, tuple(_value_order(child) for child in item))
        case dict():
            return (4, tuple((name, _value_order(item[name])) for name in sorted(item)))
        case _:
            return (5,)


@lru_cache(maxsize=16384)
def _text(item: str) -> str:
    text = encode_basestring(item)
    for character, escape in _ESCAPES:
        if character in text:
            text = text.replace(character, escape)
    return text


# What the API server's JSON writer escapes and Python's does not.
_ESCAPES = (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026"), ("\u2028", "\\u2028"), ("\u2029", "\\u2029"))


def _json(item: Any) -> str:
    if type(item) is str:
        return _text(item)
    match item:
        case True:
            return "true"
        case False:
            return "false"
        case int():
            return str(item)
        case float():
            # 1 and 1.0 are one element; from 1e21 on the API server writes exponents, as repr does.
            if not math.isfinite(item):
                raise MalformedElement(f"{item} is not a JSON number")
            return str(int(item)) if item.is_integer() and abs(item) < 1e21 else repr(item)
        case None:
            return "null"
        case list():
            return "[" + ",".join([_json(child) for child in item]) + "]"
        case dict():
            return "{" + ",".join([f"{_text(name)}:{_json(item[name])}" for name in sorted(item)]) + "}"
        case _:
            raise MalformedElement(f"not a JSON value: {item!r}")
