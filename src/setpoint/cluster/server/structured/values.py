"""How a JSON value meets its type: which alternative of an `Atom` it is, which path element an item has, when two values are equal.

What is a *leaf* is the same in all walks: scalars, atomic lists and maps, and lists or maps that are empty or null. A leaf has one owner
and is taken or left as a whole. Values are plain JSON and no walk changes one; results may share parts with what they were made from.
"""

from operator import is_
from typing import Any, Final

import msgspec

from . import elements
from .atoms import ABSENT, UNTYPED_ATOMIC, Atom, ListAtom, MapAtom

__all__ = ["LIST", "MAP", "SCALAR", "StructureError", "element_of", "elements_of", "field_atom", "form", "repeated", "same"]


class StructureError(ValueError):
    """A value does not have the structure that its type demands, so that it cannot be merged or compared."""


MAP: Final = 1
SCALAR: Final = 2
LIST: Final = 3


def form(atom: Atom, value: Any) -> int:
    """As which of the atom's alternatives a value is treated: by its own form if that is allowed, else by the first that is."""
    kind = type(value)
    if kind is dict:
        if atom.map is not None:
            return MAP
    elif kind is list:
        if atom.list is not None:
            return LIST
    elif value is not None and atom.scalar is not None:
        return SCALAR
    return MAP if atom.map is not None else SCALAR if atom.scalar is not None else LIST


def same(a: Any, b: Any) -> bool:
    """Whether two JSON values are equal. Unlike ``==`` it tells true from 1; like it, it does not tell 1 from 1.0."""
    if a is b:
        return True
    kind = type(a)
    if kind is dict or kind is list:
        # What is written alike is the same; written otherwise, though equal, it may still be: 1 and 1.0.
        return bool(a == b) and (_shares_all(a, b) or _written(a) == _written(b) or _same_parts(a, b))
    return bool(a == b) and (kind is bool) == (type(b) is bool)


def _shares_all(a: Any, b: Any) -> bool:
    """Whether two maps hold the very same values in the same order, as one and its copy do."""
    return type(a) is dict and list(a) == list(b) and all(map(is_, a.values(), b.values()))


_written = msgspec.json.Encoder(order="deterministic").encode


def _same_parts(a: Any, b: Any) -> bool:
    """The same of two values that ``==`` takes for equal."""
    if type(a) is dict:
        return all(same(value, b[key]) for key, value in a.items())
    return all(map(same, a, b))


def element_of(list_atom: ListAtom, item: Any) -> str:
    """The path element of an item of an associative list or set. Raises StructureError if the item cannot be told apart."""
    if not list_atom.keys:
        if item is None:
            raise StructureError("associative list without keys has an element that's an explicit null")
        if type(item) is dict:
            raise StructureError("associative list without keys has an element that's a map type")
        if type(item) is list:
            raise StructureError("not supported: associative list with lists as elements")
        return elements.value(item)
    if type(item) is not dict:
        raise StructureError(f"associative list with keys may not have {'a null element' if item is None else 'non-map elements'}")
    names, values = [], []
    for name in list_atom.keys:
        value = item.get(name, ABSENT)
        if value is ABSENT:
            value = list_atom.key_defaults.get(name, ABSENT)
            if value is ABSENT:
                continue  # an item that leaves a key out is an item of its own
        names.append(name)
        values.append(value)
    if not names:
        keys = " ".join([f'"{name}"' for name in list_atom.keys])
        raise StructureError(
            f"associative list with keys has an element that omits all key fields [{keys}] "
            "(and doesn't have default values for any key fields)"
        )
    return elements.key(names, values)


def elements_of(list_atom: ListAtom, items: list[Any]) -> list[str]:
    """The path elements of all items. Raises StructureError if one cannot be told apart."""
    found = []
    for position, item in enumerate(items):
        try:
            found.append(element_of(list_atom, item))
        except ValueError as why:
            raise StructureError(f"element {position}: {why}") from why
    return found


def repeated(found: list[str]) -> dict[str, None]:
    """The elements that occur more than once."""
    if len(set(found)) == len(found):
        return {}
    counts: dict[str, int] = {}
    for element in found:
        counts[element] = counts.get(element, 0) + 1
    return {element: None for element, count in counts.items() if count > 1}


def field_atom(map_atom: MapAtom, key: str) -> Atom:
    """The type of what is under a key. Undeclared keys where none are allowed do not pass `validate`; live ones are kept as they are."""
    declared = map_atom.fields.get(key)
    if declared is not None:
        return declared.type
    return map_atom.element if map_atom.element is not None else UNTYPED_ATOMIC
