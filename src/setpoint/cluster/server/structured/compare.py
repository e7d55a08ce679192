"""What of an object is owned (`field_set`) and how two versions of it differ (`compare`), both as field sets."""

from dataclasses import dataclass
from typing import Any

from .atoms import ABSENT, UNTYPED_ATOMIC, Atom, ListAtom, MapAtom
from .fieldset import EMPTY, FieldSet
from .values import LIST, MAP, elements_of, field_atom, form, repeated, same

__all__ = ["Comparison", "compare", "field_set", "reconcile", "with_named_fields"]


# ---------------------------------------------------------------------------------------------------------- field set


def field_set(atom: Atom, value: Any) -> FieldSet:
    """The paths that whoever sends ``value`` owns: its leaves, the items of its lists and the keys of its maps, but not its structs.

    Raises StructureError if an item of a list cannot be told apart.
    """
    return _fields(atom, value)[1]


def _fields(atom: Atom, value: Any) -> tuple[bool, FieldSet]:
    """Whether the place itself is in the set, and what is in the set below it."""
    shape = form(atom, value)
    members: dict[str, None] = {}
    children: dict[str, FieldSet] = {}
    if shape == MAP:
        map_atom = atom.map
        assert map_atom is not None
        if map_atom.atomic:
            return True, EMPTY
        if type(value) is not dict:
            return False, EMPTY
        declared = map_atom.fields
        for key, child in value.items():
            element = "f:" + key
            owned, below = _fields(field_atom(map_atom, key), child)
            if owned or key not in declared or child is None or child == {}:
                members[element] = None
            if below:
                children[element] = below
    elif shape == LIST and atom.list is not None and not atom.list.atomic:
        if type(value) is not list:
            return False, EMPTY
        found = elements_of(atom.list, value)
        twice = repeated(found)
        for element, child in zip(found, value, strict=True):
            members[element] = None
            if element not in twice and (below := _fields(atom.list.element, child)[1]):
                children[element] = below
    else:
        return True, EMPTY
    return False, FieldSet(members, children)


def with_named_fields(fields: FieldSet, atom: Atom) -> FieldSet:
    """The set, with every declared struct field that has something in the set below it made a member."""
    if not fields.children:
        return fields
    members = dict(fields.members)
    children = {}
    map_atom, list_atom = atom.map, atom.list
    for element, child in fields.children.items():
        below = UNTYPED_ATOMIC
        if element[:2] == "f:" and map_atom is not None:
            name = element[2:]
            if name in map_atom.fields:
                members[element] = None
            below = field_atom(map_atom, name)
        elif element[:2] == "k:" and list_atom is not None:
            below = list_atom.element
        children[element] = with_named_fields(child, below)
    return FieldSet(members, children)


def reconcile(fields: FieldSet, atom: Atom) -> FieldSet:
    """The set as it has to be read under the present schema.

    Who owned something inside of what has since become atomic owns just the whole. The other way round nothing changes. Where the schema
    knows nothing, nothing changes either.
    """
    if fields.fits is atom:
        return fields
    reconciled = _reconciled(fields, atom)
    if reconciled is fields:
        fields.fits = atom
    return reconciled


def _reconciled(fields: FieldSet, atom: Atom) -> FieldSet:
    map_atom, list_atom = atom.map, atom.list
    if map_atom is not None and map_atom.deduced:
        return fields
    whole: dict[str, None] = {}
    inside: dict[str, FieldSet] = {}
    for element, child in fields.children.items():
        below: Atom | None
        if element[:2] != "f:":
            below = list_atom.element if list_atom is not None else None
        elif map_atom is not None:
            declared = map_atom.fields.get(element[2:])
            below = declared.type if declared is not None else map_atom.element
        else:
            below = None
        if below is None:
            continue
        if _is_atomic(below):
            whole[element] = None
        elif child.children:
            reconciled = _reconciled(child, below)
            if reconciled is not child:
                inside[element] = reconciled
    if not whole and not inside:
        return fields
    children = {element: inside.get(element, child) for element, child in fields.children.items() if element not in whole}
    return FieldSet({**fields.members, **whole}, children)


def _is_atomic(atom: Atom) -> bool:
    if atom.map is not None:
        return atom.map.atomic and not atom.map.deduced
    return atom.scalar is None and atom.list is not None and atom.list.atomic


# ------------------------------------------------------------------------------------------------------------ compare


@dataclass(frozen=True, slots=True)
class Comparison:
    """How an object changed: three sets without common paths."""

    removed: FieldSet
    modified: FieldSet
    added: FieldSet

    def __bool__(self) -> bool:
        return bool(self.removed or self.modified or self.added)

    def without(self, fields: FieldSet) -> "Comparison":
        """The comparison without these fields and all that is below them."""
        return Comparison(*(part.recursive_difference(fields) for part in (self.removed, self.modified, self.added)))


def compare(atom: Atom, old: Any, new: Any) -> Comparison:
    """How ``new`` differs from ``old``. The order of associative lists and sets does not matter.

    Raises StructureError if an item of a list cannot be told apart.
    """
    walk = _Compare()
    walk.values(atom, old, new)
    return Comparison(walk.removed, walk.modified, walk.added)


class _Compare:
    """One comparison under way: where it is, and the three sets so far."""

    def __init__(self) -> None:
        self.path: list[str] = []
        self.removed, self.modified, self.added = FieldSet(), FieldSet(), FieldSet()

    def values(self, atom: Atom, old: Any, new: Any) -> None:
        """Compares two values that are both there."""
        if old is new:
            return
        shape = form(atom, new)
        old_shape = form(atom, old)
        if old_shape != shape:
            self._as(old_shape, atom, old, new)
        self._as(shape, atom, old, new)

    def _as(self, shape: int, atom: Atom, old: Any, new: Any) -> None:
        if shape == MAP:
            map_atom = atom.map
            assert map_atom is not None
            left, right = old if type(old) is dict else {}, new if type(new) is dict else {}
            if not map_atom.atomic and (left or right):
                self._maps(map_atom, left, right)
                return
        elif shape == LIST and atom.list is not None:
            before, after = old if type(old) is list else [], new if type(new) is list else []
            if not atom.list.atomic and (before or after):
                self._lists(atom.list, before, after)
                return
        if not same(old, new):
            self._mark(self.modified)

    def _maps(self, map_atom: MapAtom, old: dict[str, Any], new: dict[str, Any]) -> None:
        zeros, path = map_atom.zeros, self.path
        for key, value in new.items():
            before = old.get(key, ABSENT)
            # Most of an object is as it was: == finds that quickly, but takes 1 for true.
            if before is value or (before == value and same(before, value)):
                continue
            if before is ABSENT:
                before = zeros.get(key, ABSENT)
                if value is None and before is ABSENT and not map_atom.nulls:
                    continue
            path.append("f:" + key)
            if before is ABSENT and type(value) is not dict and type(value) is not list:
                self._mark(self.added)
            else:
                self._item(field_atom(map_atom, key), before, value)
            path.pop()
        for key, before in old.items():
            if key not in new:
                path.append("f:" + key)
                self._item(field_atom(map_atom, key), before, zeros.get(key, ABSENT))
                path.pop()

    def _item(self, atom: Atom, old: Any, new: Any) -> None:
        if old is ABSENT:
            self._mark(self.added, _everything(atom, new))
        elif new is ABSENT:
            self._mark(self.removed, _everything(atom, old))
        else:
            self.values(atom, old, new)

    def _lists(self, list_atom: ListAtom, old: list[Any], new: list[Any]) -> None:
        left, right = _by_element(list_atom, old), _by_element(list_atom, new)
        for element in {**left, **right}:
            before, after = left.get(element, _NONE), right.get(element, _NONE)
            self.path.append(element)
            if len(before) <= 1 and len(after) <= 1:
                self._item(list_atom.element, before[0] if before else ABSENT, after[0] if after else ABSENT)
            elif len(before) > 1 and len(after) > 1:
                # Items that cannot be told apart are owned together.
                if not same(before, after):
                    self._mark(self.modified)
            elif len(before) > 1:
                if after:
                    self._item(list_atom.element, ABSENT, after[0])
                self._mark(self.removed)
            else:
                if before:
                    self._item(list_atom.element, before[0], ABSENT)
                self._mark(self.added)
            self.path.pop()

    def _mark(self, fields: FieldSet, below: FieldSet = EMPTY) -> None:
        """Records the present path, and what is below it. The whole object is never recorded itself."""
        node = fields
        if not self.path:
            return
        for element in self.path[:-1]:
            child = node.children.get(element)
            if child is None:
                child = node.children[element] = FieldSet()
            node = child
        last = self.path[-1]
        node.members[last] = None
        if below:
            node.children[last] = below.union(node.children.get(last, EMPTY))


_NONE: list[Any] = []


def _by_element(list_atom: ListAtom, items: list[Any]) -> dict[str, list[Any]]:
    grouped: dict[str, list[Any]] = {}
    for element, item in zip(elements_of(list_atom, items), items, strict=True):
        grouped.setdefault(element, []).append(item)
    return grouped


def _everything(atom: Atom, value: Any) -> FieldSet:
    """All that appears or disappears below a value together with it."""
    shape = form(atom, value)
    children: dict[str, FieldSet] = {}
    if shape == MAP and type(value) is dict:
        map_atom = atom.map
        assert map_atom is not None
        if map_atom.atomic:
            return EMPTY
        if map_atom.zeros:
            value = {**map_atom.zeros, **value}
        for key, child in value.items():
            if (type(child) is dict or type(child) is list) and (below := _everything(field_atom(map_atom, key), child)):
                children["f:" + key] = below
        return FieldSet({"f:" + key: None for key in value}, children) if value else EMPTY
    if shape == LIST and type(value) is list and atom.list is not None and not atom.list.atomic and value:
        found = elements_of(atom.list, value)
        twice = repeated(found)
        for element, child in zip(found, value, strict=True):
            if element not in twice and (below := _everything(atom.list.element, child)):
                children[element] = below
        return FieldSet(dict.fromkeys(found), children)
    return EMPTY
