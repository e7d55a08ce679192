"""What is collected of a run while it is asked for, and while it goes on. When it has ended, a record of it is all that is left."""

from __future__ import annotations

import msgspec

from setpoint.cache import Change
from setpoint.controller import Cause
from setpoint.manager.flight.heads import head_of
from setpoint.manager.flight.records import Effect, Write
from setpoint.objects import Request

KEPT = 20
"""So many triggers, reads, writes, paths of one run are kept; the rest is counted."""


class Merged:
    """The causes of one source about one object: the first, the last few, and how many there were."""

    __slots__ = ("bare", "first", "last", "times")

    def __init__(self, cause: Cause) -> None:
        self.first = cause
        self.last = [cause]
        self.times = 1
        self.bare = False

    def add(self, cause: Cause, crowded: bool) -> None:
        """One more; in a crowd of keys that wait, as on a standby for days, no states are kept but those around the last change."""
        if cause is self.last[-1]:
            return  # one change may concern a key twice: by what the object was, and by what it is
        if not crowded:
            self.last = [*self.last[-2:], cause]
        else:
            if not self.bare:
                self.first, self.bare = _without_states(self.first), True
            self.last = [cause]
        self.times += 1


class Asked:
    """What a key is waiting for its run for."""

    __slots__ = ("causes", "more")

    def __init__(self, cause: Cause) -> None:
        self.causes = {_place_of(cause): Merged(cause)}
        self.more = 0

    def add(self, cause: Cause, crowded: bool) -> None:
        place = _place_of(cause)
        known = self.causes.get(place)
        if known is not None:
            known.add(cause, crowded)
        elif len(self.causes) < KEPT:
            self.causes[place] = Merged(cause)
        else:
            self.more += 1


def _without_states(cause: Cause) -> Cause:
    """The same cause, with no more of its object than the head of what it was."""
    change = cause.change
    if change is None:
        return cause
    old, was = None, change.old
    if was is not None and (head := head_of(was)) is not None:
        old = msgspec.json.encode({"metadata": head})
    return Cause(cause.source, cause.info, Change(change.key, old, None, change.initial, change.left), cause.about)


def _place_of(cause: Cause) -> tuple[str, str, Request | str]:
    info, change = cause.info, cause.change
    return cause.source, "" if info is None else info.kind, cause.about if change is None else change.key


class Active:
    """A run that goes on. `did` is what it has done so far, None if that is nothing: most runs of a quiet cluster do nothing but read."""

    __slots__ = ("after", "asked", "did", "reads", "started", "waited")

    def __init__(self, asked: Asked | Cause | None, started: float, waited: float) -> None:
        self.asked = asked
        self.started = started
        self.waited = waited
        self.after: float | None = None
        self.reads: Reads | None = None
        self.did: Deeds | None = None

    def read(self, kind: str, key: str, live: bool) -> None:
        if self.reads is None:
            self.reads = Reads()
        self.reads.add(kind, key, live)

    def deeds(self) -> Deeds:
        if self.did is None:
            self.did = Deeds()
        return self.did


class Deeds:
    """What a run does beside reading."""

    __slots__ = ("effects", "more", "skipped", "writes")

    def __init__(self) -> None:
        self.writes: list[Write] = []
        self.skipped: dict[str, None] = {}
        self.effects: list[Effect] = []
        self.more = 0


class Reads:
    """What a run reads."""

    __slots__ = ("more", "places")

    def __init__(self) -> None:
        self.places: dict[tuple[str, str, bool], int] = {}
        self.more = 0

    def add(self, kind: str, key: str, live: bool) -> None:
        place = kind, key, live
        if place in self.places or len(self.places) < KEPT:
            self.places[place] = self.places.get(place, 0) + 1
        else:
            self.more += 1
