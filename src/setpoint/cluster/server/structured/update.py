"""Who owns which fields after a write, and what an apply makes of an object: the rules, before Kubernetes' own on top (`managedfields`).

Owners are kept as a mapping from any key to the set that it owns. An *update* (create, put, other patches) never fails: whoever writes a
value takes it. An *apply* says all that its owner wants: it fails if it would change what others own, unless forced, and takes away what
the owner applied before, no longer does, and nobody else owns.

Owners who wrote in another version of the kind, whose schema differs, are judged by that one: ``elsewhere`` gives it for each of them. The
object is the same in all versions, but for ``apiVersion``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from .atoms import Atom
from .compare import Comparison, compare, field_set, reconcile, with_named_fields
from .fieldset import EMPTY, FieldSet
from .merge import merge, remove

__all__ = ["Applied", "Conflicts", "apply", "prune", "update"]

Key = TypeVar("Key")


class Conflicts(Exception, Generic[Key]):
    """An apply would change what others own: ``sets`` says what, by owner."""

    def __init__(self, sets: Mapping[Key, FieldSet]) -> None:
        super().__init__("the apply conflicts with other owners")
        self.sets = sets


@dataclass(frozen=True, slots=True)
class Applied(Generic[Key]):
    """The outcome of an apply: the object, and who owns what of it."""

    object: Any
    owners: dict[Key, FieldSet]


def update(
    atom: Atom,
    change: Comparison,
    owners: Mapping[Key, FieldSet],
    writer: Key,
    never: FieldSet = EMPTY,
    elsewhere: Mapping[Key, tuple[Atom, Comparison]] = MappingProxyType({}),
) -> tuple[dict[Key, FieldSet], bool]:
    """What everybody owns after a change by the writer, and whether the writer has set anything but what nobody owns (``never``).

    Sets that are as before are handed back themselves; owners who keep nothing are left out. For owners ``elsewhere``, the change as their
    version sees it goes with their schema. The writer is none of them.
    """
    before = _reconciled(atom, owners, {key: theirs for key, (theirs, _) in elsewhere.items()})
    after = _without(before, change, writer, {key: seen for key, (_, seen) in elsewhere.items()})
    written = change.modified.union(change.added)
    gained = written.difference(never)
    mine = after.pop(writer, EMPTY).difference(change.removed)
    if gained is not written:
        mine = mine.difference(written.intersection(never))
    if mine := mine.union(gained):
        after[writer] = mine
    return after, bool(gained)


def apply(
    atom: Atom,
    live: Any,
    applied: Any,
    stated: FieldSet,
    owners: Mapping[Key, FieldSet],
    owner: Key,
    *,
    force: bool,
    reset: FieldSet,
    elsewhere: Mapping[Key, Atom] = MappingProxyType({}),
    reset_elsewhere: FieldSet = EMPTY,
) -> Applied[Key]:
    """Merges ``applied``, whose `field_set` is ``stated``, into ``live`` for ``owner``.

    ``reset_elsewhere`` is to owners ``elsewhere`` what ``reset`` is to all others.

    Raises Conflicts unless forced, and StructureError if the two cannot be merged. ``live`` must not hold what ``reset`` names unless it
    is to stay as it is: those fields are merged like others, but nobody comes to own them here.
    """
    before = _reconciled(atom, owners, elsewhere)
    merged = merge(atom, live, applied)
    mine = stated.recursive_difference(reset)
    last = before.get(owner, EMPTY)
    now = {**before, owner: mine}
    others = {key: theirs for key, theirs in elsewhere.items() if key != owner}
    # Whoever still applies all that it applied last time owns it with all that is above it: there is nothing to take away. What was
    # applied in another version cannot be told so.
    result = prune(atom, merged, now, last, elsewhere.get(owner, atom), others) if elsewhere or last.difference(mine) else merged
    change = compare(atom, live, result).without(reset)
    seen = {key: compare(theirs, live, result).without(reset_elsewhere) for key, theirs in others.items()}
    if not force:
        conflicts = {}
        for key, fields in now.items():
            theirs = seen.get(key, change)
            if key != owner and (both := fields.intersection(theirs.modified.union(theirs.added))):
                conflicts[key] = both
        if conflicts:
            raise Conflicts(conflicts)
    return Applied(result, _without(now, change, owner, seen))


def _reconciled(atom: Atom, owners: Mapping[Key, FieldSet], elsewhere: Mapping[Key, Atom]) -> dict[Key, FieldSet]:
    return {key: reconcile(fields, elsewhere.get(key, atom)) for key, fields in owners.items()}


def _without(
    owners: Mapping[Key, FieldSet], change: Comparison, writer: Key | None, elsewhere: Mapping[Key, Comparison]
) -> dict[Key, FieldSet]:
    """The owners without what changed, as each one's version sees it; the writer, if there is one among them, keeps all."""
    left: dict[Key, FieldSet] = {}
    for key, fields in owners.items():
        if key != writer:
            # A parent that went does not take along what is below: that is in the change of its own.
            seen = elsewhere.get(key, change)
            fields = fields.difference(seen.modified).difference(seen.added).difference(seen.removed)
        if fields:
            left[key] = fields
    return left


def prune(
    atom: Atom,
    merged: Any,
    owners: Mapping[Key, FieldSet],
    last: FieldSet,
    last_atom: Atom | None = None,
    elsewhere: Mapping[Key, Atom] = MappingProxyType({}),
) -> Any:
    """``merged`` without what was applied last time and has no owner now.

    ``last_atom`` is the type of the version in which it was applied last time (None: the same). A list that one version takes for a whole
    stays whole where somebody owns anything in that version.
    """
    if not last:
        return merged
    last_atom = atom if last_atom is None else last_atom
    last = with_named_fields(last, last_atom)
    # Taking away all of `last` also takes what others own (put back first, version by version) and what nobody applied below a parent that
    # goes (put back second: nothing goes that was not in `last`).
    pruned = remove(last_atom, merged, last)
    for theirs, owned in _by_version(atom, owners, last_atom, elsewhere):
        kept = _named(theirs, pruned).union(with_named_fields(owned, theirs))
        pruned = remove(theirs, merged, _named(theirs, merged).difference(kept))
    return remove(last_atom, merged, _named(last_atom, merged).difference(_named(last_atom, pruned)).intersection(last))


def _named(atom: Atom, value: Any) -> FieldSet:
    return with_named_fields(field_set(atom, value), atom)


def _by_version(atom: Atom, owners: Mapping[Key, FieldSet], first: Atom, elsewhere: Mapping[Key, Atom]) -> list[tuple[Atom, FieldSet]]:
    """What is owned in each version, with the version's type: first in one version, then in the writer's, then in the order of the others.

    A real server takes them in any order.
    """
    owned: dict[int, tuple[Atom, FieldSet]] = {id(each): (each, EMPTY) for each in (first, atom, *elsewhere.values())}
    for key, fields in owners.items():
        theirs = elsewhere.get(key, atom)
        owned[id(theirs)] = theirs, owned[id(theirs)][1].union(fields)
    return [each for each in owned.values() if each[1]]
