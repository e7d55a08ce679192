"""The order of merged lists: first what the patch asks for, then what the live list had, each as far as it has a say."""

from __future__ import annotations

from itertools import pairwise

from setpoint.cluster.server.schema import Json

from .problems import PatchCrash, no_merge_key, wrong_type

Key = tuple[type, Json]

DIRECTIVE = "$patch"
DELETE = "delete"


def identity(value: Json) -> Key:
    """What tells scalars apart as Go does: 1, 1.5, "1" and true are all different. Raises PatchCrash for maps and lists."""
    if isinstance(value, dict | list):
        raise PatchCrash("runtime error: comparing uncomparable type")
    return type(value), value


def ranks(items: list[Json], merge_key: str) -> dict[Key, int]:
    """Where each item comes first in a list."""
    found: dict[Key, int] = {}
    for position, item in enumerate(items):
        found.setdefault(_key(item, merge_key), position)
    return found


def _key(item: Json, merge_key: str) -> Key:
    if not merge_key:
        return identity(item)
    return identity(item.get(merge_key) if isinstance(item, dict) else None)


def key_of(item: Json, merge_key: str) -> Json:
    """An item's value of the merge key. Raises PatchFailure if it has none."""
    if not isinstance(item, dict):
        raise wrong_type("map[string]interface {}", item)
    if merge_key not in item:
        raise no_merge_key(item, merge_key)
    return item[merge_key]


def arranged(merged: list[Json], wanted: list[Json], live: list[Json], merge_key: str) -> list[Json]:
    """A merged list in order: what `wanted` names in its order, the rest as in `live`, the two woven by where they are in `live`.

    Raises PatchFailure if an item has no merge key.
    """
    named, rest = _parted(merged, wanted, merge_key)
    where = ranks(live, merge_key)
    return _woven(_sorted(rest, live, merge_key), _sorted(named, wanted, merge_key), where, merge_key)


def _parted(merged: list[Json], wanted: list[Json], merge_key: str) -> tuple[list[Json], list[Json]]:
    if merge_key:
        for item in merged:
            key_of(item, merge_key)
    names = ranks(wanted, merge_key)
    if merge_key:
        for name in [item for item in wanted if isinstance(item, dict) and merge_key not in item]:
            names.pop(_key(name, merge_key), None)
    named = [item for item in merged if _key(item, merge_key) in names]
    return named, [item for item in merged if _key(item, merge_key) not in names]


def _sorted(items: list[Json], order: list[Json], merge_key: str) -> list[Json]:
    """The items in an order, those that are to be deleted last."""
    deleted: list[Json] = []
    if merge_key:
        for item in (*items, *order):
            key_of(item, merge_key)
        deleted = [item for item in items if item.get(DIRECTIVE) == DELETE]
        items = [item for item in items if item.get(DIRECTIVE) != DELETE]
    where = ranks(order, merge_key)
    places = [where.get(_key(item, merge_key)) for item in items]
    if None not in places:
        return [item for _, item in sorted(zip(places, items, strict=True), key=lambda pair: pair[0] or 0)] + deleted
    return _insertion_sorted(items, places) + deleted


def _insertion_sorted(items: list[Json], places: list[int | None]) -> list[Json]:
    """What the real server makes of items that the order does not name: each that is met goes before all that came earlier."""
    done: list[tuple[int | None, Json]] = []
    for place, item in zip(places, items, strict=True):
        at = len(done)
        while at and (place is None or (before := done[at - 1][0]) is None or place < before):
            at -= 1
        done.insert(at, (place, item))
    return [item for _, item in done]


def _woven(rest: list[Json], named: list[Json], where: dict[Key, int], merge_key: str) -> list[Json]:
    """Both lists as one; an item of the rest comes as soon as the next named one is known to come later."""
    woven: list[Json] = []
    at = 0
    for item in named:
        place = where.get(_key(item, merge_key))
        while at < len(rest) and place is not None:
            before = where.get(_key(rest[at], merge_key))
            if before is None or before >= place:
                break
            woven.append(rest[at])
            at += 1
        woven.append(item)
    return woven + rest[at:]


def without_repeats(items: list[Json]) -> list[Json]:
    """Each scalar once. A repeated one gives its place to the last of the list, as on the real server."""
    items = list(items)
    first = 0
    while first < len(items) - 1:
        other = first + 1
        while other < len(items):
            if identity(items[first]) == identity(items[other]):
                items[other] = items[-1]
                items.pop()
            else:
                other += 1
        first += 1
    return items


def one_kind(*lists: list[Json]) -> bool:
    """Whether all items of the lists have one type."""
    return all(type(a) is type(b) for a, b in pairwise([item for items in lists for item in items]))
