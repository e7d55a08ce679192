"""`Predicate`: whether a change is worth a run. It decides *whether to enqueue*, and never anything about the run that follows.

There are two sorts. A predicate about *change* compares old and new, so at the first sight of an object after a start, when there is no
telling what changed meanwhile, it has no say, and the object is enqueued. A predicate about *state* (`matching`) looks at one object and
has its say at any time. They combine by `&`, `|` and `~`, "no say" being the third value of the logic: `~p` has none where `p` has none.

A predicate that raises enqueues: a run too many does no harm, one too few does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeAlias, TypeVar

from setpoint.objects import Object

K = TypeVar("K", bound=Object)

Vote: TypeAlias = bool | None
"""Yes, no, or no say."""


class Predicate(Generic[K]):
    """Made of a function of the object before and after a change, None where there is none: created, or deleted.

    The function is about change, so the start-up listing does not ask it; see the module.
    """

    __slots__ = ("_vote",)

    def __init__(self, accepts: Callable[[K | None, K | None], bool], /) -> None:
        def vote(old: K | None, new: K | None, first_sight: bool) -> Vote:
            return None if first_sight else bool(accepts(old, new))

        self._vote: Callable[[K | None, K | None, bool], Vote] = vote

    def accepts(self, old: K | None, new: K | None, *, first_sight: bool = False) -> bool:
        """Whether to enqueue. Raises what the functions raise."""
        return self._vote(old, new, first_sight) is not False

    def __and__(self, other: Predicate[K], /) -> Predicate[K]:
        """Both: one that has no say leaves it to the other."""
        left, right = self._vote, other._vote

        def vote(old: K | None, new: K | None, first_sight: bool) -> Vote:
            a = left(old, new, first_sight)
            if a is False:
                return False
            b = right(old, new, first_sight)
            return b if a is True else (False if b is False else None)

        return _voting(vote)

    def __or__(self, other: Predicate[K], /) -> Predicate[K]:
        """Either."""
        left, right = self._vote, other._vote

        def vote(old: K | None, new: K | None, first_sight: bool) -> Vote:
            a = left(old, new, first_sight)
            if a is True:
                return True
            b = right(old, new, first_sight)
            return b if a is False else (True if b is True else None)

        return _voting(vote)

    def __invert__(self) -> Predicate[K]:
        """Not, except where it has no say."""
        inner = self._vote

        def vote(old: K | None, new: K | None, first_sight: bool) -> Vote:
            a = inner(old, new, first_sight)
            return None if a is None else not a

        return _voting(vote)


def _voting(vote: Callable[[Any, Any, bool], Vote]) -> Predicate[Any]:
    predicate: Predicate[Any] = Predicate.__new__(Predicate)
    predicate._vote = vote
    return predicate


def matching(accepts: Callable[[K], bool], /) -> Predicate[K]:
    """A predicate about state: a change is accepted if the object, before or after it, is. It is asked at first sight too."""

    def vote(old: K | None, new: K | None, first_sight: bool) -> Vote:
        return any(accepts(obj) for obj in (new, old) if obj is not None)

    return _voting(vote)
