"""Why a key ran, as the records tell it: what has changed, in which fields, and who changed it."""

from __future__ import annotations

from collections.abc import Sequence

from setpoint.cache import Change
from setpoint.controller import Cause
from setpoint.manager.flight.changed_paths import changed_paths
from setpoint.manager.flight.heads import head_of
from setpoint.manager.flight.in_progress import KEPT, Asked
from setpoint.manager.flight.records import Own, Trigger, bounded
from setpoint.manager.flight.writers import OwnWrites, foreign_writer
from setpoint.world import Clock

_DETAILS = 100
"""So many changes a second of other people's are compared field by field; of more, who made them is all that is told."""


class Causes:
    """Makes records of causes. `own` are the writes of this process, so that what they have triggered is told from all else."""

    def __init__(self, clock: Clock, own: OwnWrites) -> None:
        self._clock = clock
        self._own = own
        self._second, self._details = 0, 0

    def triggers(self, controller: str, asked: Asked | Cause) -> list[Trigger]:
        """What a run of this controller has been asked for by."""
        if isinstance(asked, Cause):
            return [self._trigger(controller, asked, (asked,), 1)]
        return [self._trigger(controller, merged.first, merged.last, merged.times) for merged in asked.causes.values()]

    def _trigger(self, controller: str, first: Cause, latest: Sequence[Cause], times: int) -> Trigger:
        last = latest[-1]
        info, change = last.info, last.change
        if info is None or change is None:
            return Trigger(last.source, what=bounded(last.about), times=times)
        mapper = bounded(last.about) if last.source == "mapped" else ""
        trigger = Trigger(last.source, info.kind, bounded(str(change.key)), mapper=mapper, times=times)
        if change.initial:
            trigger.what = "listed"
            return trigger
        trigger.what = _what(change)
        was, now = head_of(first.change.old if first.change else None), head_of(change.new)
        trigger.old = "" if was is None else was.resource_version
        trigger.new = "" if now is None else now.resource_version
        trigger.spec = was is None or now is None or was.generation != now.generation or not now.generation
        for one in latest:
            if one.change is not None and not one.change.initial:
                self._tell_who(controller, one.change, trigger)
        return trigger

    def _tell_who(self, controller: str, change: Change, trigger: Trigger) -> None:
        """Of several changes of an object, the last one that somebody else made is what is worth telling."""
        old, new = change.old, change.new  # each is unpacked when it is asked for
        head = head_of(new) or head_of(old)
        if head is None:
            return
        own, by = self._who(controller, head.uid, "" if new is None else head.resource_version, change)
        if own == "this" and trigger.own in ("process", "foreign"):
            return
        trigger.own, trigger.by, trigger.paths = own, by, []
        if own != "this" and old is not None and new is not None and self._may_compare():
            trigger.paths = [bounded(path) for path in changed_paths(old, new)[:KEPT]]

    def _who(self, controller: str, uid: str, version: str, change: Change) -> tuple[Own, str]:
        writer = self._own.writer(uid, version)
        if writer is None:
            return "foreign", bounded(foreign_writer(change))
        name = writer.partition(" ")[0]
        return ("this" if name == controller else "process"), name

    def _may_compare(self) -> bool:
        """Comparing costs; where very much changes, nobody will read it all."""
        second = int(self._clock.monotonic())
        if second != self._second:
            self._second, self._details = second, 0
        self._details += 1
        return self._details <= _DETAILS


def _what(change: Change) -> str:
    if change.before is None:
        return "created"
    return "deleted" if change.after is None else "changed"
