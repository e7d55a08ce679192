"""A list and a dictionary that cannot be written to, and say why.

What reads as empty, or is only a view, must not swallow a write: ``deployment.status.conditions.append(...)`` on a status
that is not there would otherwise be lost, or worse, be seen by everyone who shares the stand-in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")

Refuse = Callable[[], Any]


def _refused(self: Any, *args: object, **kwargs: object) -> NoReturn:
    self._refuse()
    raise TypeError("this is read-only")


class FrozenList(list[T]):
    """A list that calls `refuse`, which raises, on every attempt to change it. A copy is a plain list."""

    __slots__ = ("_refuse",)

    def __init__(self, items: Iterable[T], refuse: Refuse) -> None:
        super().__init__(items)
        self._refuse = refuse

    def __reduce_ex__(self, protocol: object) -> tuple[Any, ...]:
        return list, (list(self),)

    append = extend = insert = remove = pop = clear = sort = reverse = _refused
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refused


class FrozenDict(dict[K, V]):
    """A dictionary that calls `refuse`, which raises, on every attempt to change it. A copy is a plain dictionary."""

    __slots__ = ("_refuse",)

    def __init__(self, items: Mapping[K, V], refuse: Refuse) -> None:
        super().__init__(items)
        self._refuse = refuse

    def __reduce_ex__(self, protocol: object) -> tuple[Any, ...]:
        return dict, (dict(self),)

    update = setdefault = pop = popitem = clear = _refused
    __setitem__ = __delitem__ = __ior__ = _refused
