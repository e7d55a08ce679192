"""Which item of a list continues which item of its former self.

By the keys that the class declares for the list, or that Kubernetes lists usually have; else by equality; else by place.
"""

from __future__ import annotations

from typing import Any

_USUAL_KEYS = ("name", "type", "containerPort", "port", "key", "ip", "mountPath", "uid")


def pairs(old: list[Any], new: list[Any], keys: tuple[str, ...] = ()) -> list[int | None]:
    """For each new item the place of the old item that it continues, None for an item that is new."""
    if not all(isinstance(item, dict) for item in (*old, *new)):
        return _by_equality_and_place(old, new)
    for candidate in [keys] if keys else [(key,) for key in _USUAL_KEYS]:
        if (found := _by_keys(old, new, candidate, declared=bool(keys))) is not None:
            return found
    return _by_equality_and_place(old, new)


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON. To Python, True is 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def _by_keys(old: list[dict[str, Any]], new: list[dict[str, Any]], keys: tuple[str, ...], *, declared: bool) -> list[int | None] | None:
    """None if these keys do not tell the items apart."""
    places = {_values(item, keys): place for place, item in enumerate(old)}
    wanted = [_values(item, keys) for item in new]
    if len(places) < len(old) or len(dict.fromkeys(wanted)) < len(wanted):
        return None
    if not declared and any(None in values for values in (*places, *wanted)):
        return None
    found = [places.get(values) for values in wanted]
    if len(keys) > 1:
        _by_stated_keys(old, new, keys, found)
    return found


def _by_stated_keys(old: list[dict[str, Any]], new: list[dict[str, Any]], keys: tuple[str, ...], found: list[int | None]) -> None:
    """A new item may leave out a key that the server has filled in, such as a port's protocol: it continues the one old item that fits."""
    free = [place for place in range(len(old)) if place not in found]
    for at, item in enumerate(new):
        stated = [key for key in keys if key in item]
        if found[at] is not None or not stated:
            continue
        fitting = [place for place in free if all(old[place].get(key) == item[key] for key in stated)]
        if len(fitting) == 1:
            found[at] = fitting[0]
            free.remove(fitting[0])


def _values(item: dict[str, Any], keys: tuple[str, ...]) -> tuple[Any, ...]:
    # As text where it is neither text nor number, which no sensible key is, so that it can be looked up.
    return tuple(value if isinstance(value := item.get(key), (str, int, float, type(None))) else repr(value) for key in keys)


def _by_equality_and_place(old: list[Any], new: list[Any]) -> list[int | None]:
    # An item that is where it was comes first: of two that are the same to the class, the server may know a difference.
    found: list[int | None] = [at if at < len(old) and same(old[at], item) else None for at, item in enumerate(new)]
    free = dict.fromkeys(place for place in range(len(old)) if place >= len(new) or found[place] is None)
    for at, item in enumerate(new):
        if found[at] is not None:
            continue
        place = next((place for place in free if same(old[place], item)), None)
        if place is not None:
            found[at] = place
            del free[place]
    if len(old) == len(new):
        for at in range(len(new)):
            if found[at] is None and at in free:
                found[at] = at
    return found
