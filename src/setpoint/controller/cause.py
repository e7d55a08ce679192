"""`Cause`: why a key was asked for. For the observer's listeners alone; no reconciler ever gets to see one.

Making one costs next to nothing, since it is made for every change of every object. What it says is worked out when somebody looks.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from setpoint.cache import Change
from setpoint.objects import KindInfo

Source: TypeAlias = Literal["watch", "owned", "mapped", "timer", "backoff", "again", "external"]
"""Who asked: a watch of the primary kind, of a kind that it owns, or of one that a function maps; `requeue_after`; the backoff after a
failure; a run that asked to run again at once; anything else, which says in words what it is."""


class Cause(msgspec.Struct, frozen=True, gc=False):
    """One reason for a run. A watch gives the kind and the change of one of its objects; `about` is the mapper's name, or words."""

    source: Source
    info: KindInfo | None = None
    change: Change | None = None
    about: str = ""

    @property
    def reason(self) -> str:
        """For people: what happened to which object."""
        change = self.change
        if self.info is None or change is None:
            return self.about
        if change.initial:
            what = "listed"
        elif change.before is None:
            what = "created"
        else:
            what = "deleted" if change.after is None else "changed"
        return f"{self.info.kind} {change.key} {what}"

    def __repr__(self) -> str:
        return f"Cause({self.source!r}, {self.reason!r})"  # the objects themselves would fill pages


def as_cause(reason: Cause | str) -> Cause:
    """A reason that is given in words is a cause from somewhere else."""
    return reason if isinstance(reason, Cause) else Cause("external", about=reason)
