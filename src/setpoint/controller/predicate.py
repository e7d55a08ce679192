"""`Predicate`: whether a change is worth a run. It decides *whether to enqueue*, and never anything about the run that follows.

There are two sorts. A predicate about *change* compares old and new. Where there is nothing to compare it has no say: at the first sight of
an object after a start, when nobody knows what happened meanwhile; when it was created, and when it was deleted. A predicate about *state*
(`matching`) looks at one object and has its say at any time. They combine by `&`, `|` and `~`, "no say" being the third value of the
logic, and what comes to no say in the end is enqueued:

=========  =======  =======  =======  =======
a          b        a & b    a | b    ~a
=========  =======  =======  =======  =======
yes        no say   no say   yes      no
no         no say   no       no say   yes
no say     no say   no say   no say   no say
=========  =======  =======  =======  =======

So `~generation_changed` does not pass changes of the spec, but a first sight it passes as `generation_changed` does: a controller that is
told to overlook some changes still looks at every object once.

An object that was deleted and created again under its name, and is seen only afterwards, was deleted and was created: its two lives are not
compared. A predicate that raises enqueues: a run too many does no harm, one too few does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeAlias, TypeVar

from setpoint.objects import Object

K = TypeVar("K", bound=Object)

Vote: TypeAlias = bool | None
"""Yes, no, or no say."""

Check: TypeAlias = Callable[[type[Object]], None]
"""Raises `ValueError` if a predicate cannot be asked about objects of a class."""


class Predicate(Generic[K]):
    """Made of a function of the object before and after a change, None where there is none: created, or deleted.

    The function is about change, so the start-up listing does not ask it; see the module. One that wants to be asked only where there is
    something to compare is made by `comparing`.
    """

    __slots__ = ("_checks", "_vote")

    def __init__(self, accepts: Callable[[K | None, K | None], bool], /) -> None:
        def vote(old: K | None, new: K | None, first_sight: bool) -> Vote:
            return None if first_sight else bool(accepts(old, new))

        self._vote: Callable[[K | None, K | None, bool], Vote] = vote
        self._checks: tuple[Check, ...] = ()

    def accepts(self, old: K | None, new: K | None, *, first_sight: bool = False) -> bool:
        """Whether to enqueue. Raises what the functions raise."""
        if old is not None and new is not None and old.metadata.uid != new.metadata.uid:
            return self._vote(old, None, first_sight) is not False or self._vote(None, new, first_sight) is not False
        return self._vote(old, new, first_sight) is not False

    def check(self, kind: type[Object]) -> None:
        """Raises `ValueError` if it cannot be asked about objects of that class: a field that it compares is not there."""
        for check in self._checks:
            check(kind)

    def __and__(self, other: Predicate[K], /) -> Predicate[K]:
        """Both: one that has no say leaves it to the other, but only as far as that says no."""
        left, right = self._vote, other._vote

        def vote(old: K | None, new: K | None, first_sight: bool) -> Vote:
            a = left(old, new, first_sight)
            if a is False:
                return False
            b = right(old, new, first_sight)
            return b if a is True else (False if b is False else None)

        return voting(vote, *self._checks, *other._checks)

    def __or__(self, other: Predicate[K], /) -> Predicate[K]:
        """Either."""
        left, right = self._vote, other._vote

        def vote(old: K | None, new: K | None, first_sight: bool) -> Vote:
            a = left(old, new, first_sight)
            if a is True:
                return True
            b = right(old, new, first_sight)
            return b if a is False else (True if b is True else None)

        return voting(vote, *self._checks, *other._checks)

    def __invert__(self) -> Predicate[K]:
        """Not, except where it has no say."""
        inner = self._vote

        def vote(old: K | None, new: K | None, first_sight: bool) -> Vote:
            a = inner(old, new, first_sight)
            return None if a is None else not a

        return voting(vote, *self._checks)


def voting(vote: Callable[[Any, Any, bool], Vote], *checks: Check) -> Predicate[Any]:
    """A predicate made of its votes, which is asked about first sights, creations and deletions too."""
    predicate: Predicate[Any] = Predicate.__new__(Predicate)
    predicate._vote = vote
    predicate._checks = checks
    return predicate


def comparing(differ: Callable[[K, K], Vote], /, *checks: Check) -> Predicate[K]:
    """A predicate about change: a function of the object before and after. It has no say where one of them is missing, or where it gives
    None."""

    def vote(old: K | None, new: K | None, first_sight: bool) -> Vote:
        if first_sight or old is None or new is None:
            return None
        found = differ(old, new)
        return None if found is None else bool(found)

    return voting(vote, *checks)


def matching(accepts: Callable[[K], bool], /) -> Predicate[K]:
    """A predicate about state: a change is accepted if the object, before or after it, is. It is asked at first sight too."""

    def vote(old: K | None, new: K | None, first_sight: bool) -> Vote:
        return any(accepts(obj) for obj in (new, old) if obj is not None)

    return voting(vote)
