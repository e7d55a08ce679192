"""Building objects: an applied one merged into a live one, and an object without, or with nothing but, a set of fields."""

from operator import is_
from typing import Any

from .atoms import ABSENT, Atom, ListAtom
from .fieldset import EMPTY, FieldSet
from .values import LIST, MAP, StructureError, element_of, elements_of, field_atom, form, repeated, same

__all__ = ["extract", "merge", "remove"]


def merge(atom: Atom, live: Any, applied: Any) -> Any:
    """``live`` with what ``applied`` says put over it; what only ``live`` has stays.

    Items of associative lists that ``applied`` lists come in its order; others keep their place beside their neighbours. An applied ``{}``
    or null replaces a live leaf as it is, so that the two stay distinct. What does not change is handed back itself: ``merge(...) is live``
    tells that there is nothing to do. Raises StructureError if an item of a list cannot be told apart,
    or an applied one occurs twice.
    """
    shape = form(atom, applied)
    if shape == MAP:
        map_atom = atom.map
        assert map_atom is not None
        left, right = live if type(live) is dict else {}, applied if type(applied) is dict else {}
        if map_atom.atomic or not (left or right):
            return _leaf(live, applied)
        changed: dict[str, Any] = {}
        for key, value in right.items():
            partner = left.get(key, ABSENT)
            merged = value if partner is ABSENT else merge(field_atom(map_atom, key), partner, value)
            if merged is not partner:
                changed[key] = merged
        return {**left, **changed} if changed or left is not live else live
    if shape == LIST and atom.list is not None and not atom.list.atomic:
        before, after = live if type(live) is list else [], applied if type(applied) is list else []
        if not (before or after):
            return _leaf(live, applied)
        items = _merge_lists(atom.list, before, after)
        unchanged = before is live and len(items) == len(before) and all(map(is_, items, before))
        return live if unchanged else items
    return _leaf(live, applied)


def _leaf(live: Any, applied: Any) -> Any:
    return live if same(live, applied) else applied


def _merge_lists(list_atom: ListAtom, live: list[Any], applied: list[Any]) -> list[Any]:
    left, right = elements_of(list_atom, live), elements_of(list_atom, applied)
    if twice := repeated(right):
        raise StructureError(f"duplicate entries for key {next(iter(twice))}")
    wanted = dict(zip(right, applied, strict=True))
    # A live element that occurs twice has no one partner to merge with: null stands for it.
    partners = {**dict(zip(left, live, strict=True)), **dict.fromkeys(repeated(left))}
    shared = [element for element in right if element in partners]
    next_shared = 0
    done: dict[str, None] = {}
    out: list[Any] = []

    def emit(element: str) -> None:
        partner = partners.get(element, ABSENT)
        out.append(wanted[element] if partner is ABSENT else merge(list_atom.element, partner, wanted[element]))
        done[element] = None

    i = j = 0
    while i < len(left) or j < len(right):
        if i < len(left) and j < len(right):
            if left[i] == right[j]:
                emit(left[i])
                i, j, next_shared = i + 1, j + 1, next_shared + 1
                continue
            if left[i] in wanted and next_shared < len(shared) and shared[next_shared] != left[i]:
                i += 1  # an item that comes at another place in the applied order
                continue
        if i < len(left):
            if left[i] not in wanted:
                out.append(live[i])
                i += 1
                continue
            if left[i] in done:
                i += 1
        if j < len(right):
            emit(right[j])
            if next_shared < len(shared) and shared[next_shared] == right[j]:
                next_shared += 1
            j += 1
    return out


def remove(atom: Atom, value: Any, fields: FieldSet) -> Any:
    """``value`` without the fields of the set. What is empty or null where something was to be removed, or became so, is left as null."""
    return _pick(atom, value, fields, False)


def extract(atom: Atom, value: Any, fields: FieldSet) -> Any:
    """Nothing but the fields of the set, and what is needed to reach them. Key fields of items only come along if they are in the set."""
    return _pick(atom, value, fields, True)


def _pick(atom: Atom, value: Any, fields: FieldSet, keep: bool) -> Any:
    shape = form(atom, value)
    if shape == MAP:
        map_atom = atom.map
        assert map_atom is not None
        if type(value) is not dict:
            return None
        if not value or map_atom.atomic:
            return value if keep else None
        out: dict[str, Any] = {}
        for key, child in value.items():
            element = "f:" + key
            member = element in fields.members
            below = fields.children.get(element, EMPTY)
            if member and not keep:
                continue
            if below or (member and keep):
                out[key] = _pick(field_atom(map_atom, key), child, below, keep)
            elif not keep:
                out[key] = child
        return out or None
    if shape == LIST and atom.list is not None:
        if type(value) is not list:
            return None
        if not value or atom.list.atomic:
            return value if keep else None
        items: list[Any] = []
        for item in value:
            element = element_of(atom.list, item)
            member = element in fields.members
            below = fields.children.get(element, EMPTY)
            if member if not keep else not (member or below):
                continue
            items.append(_pick(atom.list.element, item, below, keep) if below else item)
        return items or None
    return value
