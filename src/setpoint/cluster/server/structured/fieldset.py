"""Sets of field paths, as `metadata.managedFields` records who owns what.

A `FieldSet` is a trie: a node has *members* (elements that are themselves in the set) and *children* (elements that have something in the
set below them). A child need not be a member: owning ``.spec.replicas`` does not mean to own ``.spec``.

Field sets are values: nothing changes one after it was built, and the operations return their operand where nothing changed, so that
``a.difference(b) is a`` tells cheaply that they were disjoint. The wire form is FieldsV1
(https://kubernetes.io/docs/reference/using-api/server-side-apply/): nested JSON objects keyed by elements, ``{}`` for a leaf and ``"."``
inside a node that is a member as well.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from . import elements

__all__ = ["EMPTY", "FieldSet", "display_path"]

Path = tuple[str, ...]


def display_path(path: Sequence[str]) -> str:
    """A path as people read it: ``.spec.ports[port=80,protocol="TCP"].name``."""
    return "".join([elements.display(element) for element in path])


class FieldSet:
    """An immutable set of field paths."""

    __slots__ = ("children", "fits", "members")

    members: dict[str, None]
    children: "dict[str, FieldSet]"  # none of them is empty
    fits: object
    """The type by which the set was found to be as it has to be (`reconcile`), so that it need not be asked again."""

    def __init__(self, members: dict[str, None] | None = None, children: "dict[str, FieldSet] | None" = None) -> None:
        self.members = {} if members is None else members
        self.children = {} if children is None else children
        self.fits = None

    @classmethod
    def of(cls, *paths: Iterable[str]) -> "FieldSet":
        """The set of these paths, each a sequence of elements in canonical form. The empty path (the whole object) is never recorded."""
        root = cls()
        for path in paths:
            node, last = root, None
            for element in path:
                if last is not None:
                    node = node.children.setdefault(last, cls())
                last = element
            if last is not None:
                node.members[last] = None
        return root

    @classmethod
    def from_wire(cls, fields: dict[str, Any]) -> "FieldSet":
        """Reads FieldsV1. Elements of an unknown kind are dropped. Raises ValueError if it is malformed."""
        members: dict[str, None] = {}
        children: dict[str, FieldSet] = {}
        for text, below in fields.items():
            element = text
            if text[:2] != "f:":
                known = None if text == "." else elements.canonical(text)
                if known is None:
                    continue
                element = known
            if below is None or below == {}:
                members[element] = None
                continue
            if not isinstance(below, dict):
                raise ValueError(f"the fields below {text!r} are not an object")
            child = cls.from_wire(below)
            if not (child.members or child.children):
                members[element] = None
                continue
            if "." in below:
                members[element] = None
            children[element] = child if element not in children else children[element].union(child)
        return cls(members, children)

    def to_wire(self) -> dict[str, Any]:
        """Writes FieldsV1, in element order."""
        wire: dict[str, Any] = {}
        members, children = self.members, self.children
        for element in elements.in_order({**members, **children}):
            child = children.get(element)
            if child is None:
                wire[element] = {}
            elif element in members:
                wire[element] = {".": {}, **child.to_wire()}
            else:
                wire[element] = child.to_wire()
        return wire

    def __bool__(self) -> bool:
        return bool(self.members or self.children)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FieldSet):
            return NotImplemented
        return self.members == other.members and self.children == other.children

    __hash__ = None  # type: ignore[assignment]  # as for dict: a value, but not a key

    def __iter__(self) -> Iterator[Path]:
        """All paths: at each level first the members, then what is below, both in element order. So conflicts are listed."""
        for element in elements.in_order(self.members):
            yield (element,)
        for element in elements.in_order(self.children):
            for rest in self.children[element]:
                yield (element, *rest)

    def __contains__(self, path: Sequence[str]) -> bool:
        node = self
        for element in path[:-1]:
            below = node.children.get(element)
            if below is None:
                return False
            node = below
        return bool(path) and path[-1] in node.members

    def __repr__(self) -> str:
        return f"FieldSet({', '.join(map(display_path, self))})"

    def union(self, other: "FieldSet") -> "FieldSet":
        """What is in either."""
        if not other or other is self:
            return self
        if not self:
            return other
        more: dict[str, FieldSet] = {}
        for element, child in other.children.items():
            mine = self.children.get(element)
            both = child if mine is None else mine.union(child)
            if both is not mine:
                more[element] = both
        if not more and other.members.keys() <= self.members.keys():
            return self
        return FieldSet({**self.members, **other.members}, {**self.children, **more})

    def intersection(self, other: "FieldSet") -> "FieldSet":
        """What is in both: members with members, whatever is above or below them."""
        if other is self:
            return self
        children = {}
        theirs = other.children
        for element, child in self.children.items():
            below = theirs.get(element)
            if below is not None and (both := child.intersection(below)):
                children[element] = both
        members = {element: None for element in self.members if element in other.members}
        return FieldSet(members, children) if members or children else EMPTY

    def difference(self, other: "FieldSet") -> "FieldSet":
        """What is in this set and not in the other. A parent in the other set does not take away what is below it."""
        return self._without(other, False)

    def recursive_difference(self, other: "FieldSet") -> "FieldSet":
        """What is in this set and neither in the other nor below a member of the other."""
        return self._without(other, True)

    def _without(self, other: "FieldSet", recursive: bool) -> "FieldSet":
        if not other or not self:
            return self
        gone, theirs = other.members, other.children
        members, children = self.members, self.children
        changed = not gone.keys().isdisjoint(members)
        if changed:
            members = {element: None for element in members if element not in gone}
        left: dict[str, FieldSet] = {}
        for element, child in children.items():
            if recursive and element in gone:
                changed = True
                continue
            below = theirs.get(element)
            rest = child if below is None else child._without(below, recursive)
            if rest is not child:
                changed = True
            if rest:
                left[element] = rest
        if not changed:
            return self
        return FieldSet(members, left) if members or left else EMPTY


EMPTY = FieldSet()
"""The empty set."""
