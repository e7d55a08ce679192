"""Finds keys that go round in circles: a controller that triggers itself, two writers of one field, runs one upon the other for nothing.

Judged is the sequence of a key's runs, so nothing depends on how fast a cluster is. What is *no* circle:

- a roll-out: each run is triggered by somebody else's progress, and the fields that others write are not those that we write;
- a poller: its timer triggers it, and the run that its own status write triggers writes nothing;
- a retry: it fails, and the log says so already;
- a few corrections, by a person or at the start of two controllers that come to agree.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from setpoint.manager.flight.records import Run, Trigger, Write
from setpoint.objects import Request

OWN_WRITES = 25
"""So many runs in a row that were triggered by nothing but own writes, each of which wrote the same field again, are a circle."""
ROUNDS = 5
"""So often must somebody else change the very field that we set, and we set it again, within `WINDOW` seconds."""
WINDOW = 600.0
AGAIN = 10
"""So many runs in a row that ask to run again at once, and change nothing."""
HOT = 300
"""So many runs within a minute, triggered by nothing but timers, that change nothing."""
_KEPT = 4096
"""Of so many keys the recent past is remembered."""
_PATHS = 200
"""So many fields of an object that a key has written."""

Sort: TypeAlias = Literal["own writes", "fight", "again", "hot"]


class Loop(msgspec.Struct, frozen=True):
    """A circle that was found: which key, what sort, and a sentence that says what happens and what to do. `writers` names who writes."""

    controller: str
    request: Request
    sort: Sort
    text: str
    paths: tuple[str, ...] = ()
    writers: tuple[str, ...] = ()


class _Past:
    """The recent past of one key."""

    __slots__ = ("again", "hot", "minute", "ours", "own", "rounds", "said", "same")

    def __init__(self) -> None:
        self.own = 0  # runs in a row that own writes triggered and that wrote `same` again
        self.same: dict[str, None] = {}
        self.ours: dict[str, dict[str, None]] = {}  # the paths that we have written, by object
        self.rounds: dict[tuple[str, str], list[tuple[float, str]]] = {}  # when who else changed which path of which object back
        self.again = 0
        self.minute, self.hot = 0.0, 0
        self.said: dict[Sort, Loop] = {}


class Loops:
    """Hears of each run that has ended, and remembers what it needs of the keys that write or hurry; of the others, nothing."""

    def __init__(self) -> None:
        self._keys: dict[tuple[str, Request], _Past] = {}

    def of(self, controller: str, request: Request) -> list[Loop]:
        """The circles that were found for a key."""
        past = self._keys.get((controller, request))
        return [] if past is None else list(past.said.values())

    @property
    def found(self) -> list[Loop]:
        """All circles that were found and are remembered."""
        return [loop for past in self._keys.values() for loop in past.said.values()]

    def ran(self, controller: str, request: Request, run: Run) -> Loop | None:
        """The circle that this run shows, when it is first seen; each key is told of once for each sort."""
        place = controller, request
        past = self._keys.get(place)
        if past is None:
            if not run.writes and run.requeue_after is None:
                return None
            if len(self._keys) >= _KEPT:
                del self._keys[next(iter(self._keys))]
            past = _Past()
        else:
            del self._keys[place]
        self._keys[place] = past
        if run.error:
            past.own = past.again = past.hot = 0
            return None
        found = (
            self._fight(controller, request, run, past)
            or self._own_writes(controller, request, run, past)
            or self._again(controller, request, run, past)
            or self._hot(controller, request, run, past)
        )
        if found is None or found.sort in past.said:
            return None
        past.said[found.sort] = found
        return found

    def _own_writes(self, controller: str, request: Request, run: Run, past: _Past) -> Loop | None:
        written = _written(run)
        if not run.triggers or not all(trigger.own == "this" for trigger in run.triggers):
            past.own, past.same = 0, written
            return None
        same = {path: None for path in written if path in past.same} if past.own else written
        if not same:
            past.own, past.same = 0, {}
            return None
        past.own, past.same = past.own + 1, same
        if past.own < OWN_WRITES:
            return None
        what = _listed(list(same))
        return Loop(
            controller,
            request,
            "own writes",
            f"your own write of {what} triggers the next run, which writes it again: {past.own} runs in a row had no other cause. "
            "Write only what has changed: no time of day, no counter, nothing whose order changes",
            tuple(same),
            (controller,),
        )

    def _fight(self, controller: str, request: Request, run: Run, past: _Past) -> Loop | None:
        for trigger in run.triggers:
            self._undone(trigger, run.at, past)
        found: Loop | None = None
        for write in run.writes:
            if not write.changed or write.code:
                continue
            target = _target(write)
            ours = past.ours.setdefault(target, {})
            for path in write.paths:
                ours.pop(path, None)
                ours[path] = None
            while len(ours) > _PATHS:
                del ours[next(iter(ours))]  # fields whose very names change from run to run
            if len(past.ours) > 20:
                del past.ours[next(iter(past.ours))]
            contested = {place: times for place, times in past.rounds.items() if place[0] == target and place[1] in write.paths}
            hot = {place: times for place, times in contested.items() if len(times) >= ROUNDS}
            if hot and found is None:
                others, paths = dict.fromkeys(by for times in hot.values() for _, by in times), dict.fromkeys(path for _, path in hot)
                rival = " and ".join(others)
                found = Loop(
                    controller,
                    request,
                    "fight",
                    f"{controller} and {rival} fight over {_listed(list(paths))} of {target}: each sets back what the other has set, "
                    f"{max(len(times) for times in hot.values())} times within {WINDOW / 60:.0f} minutes. Leave the field out of what you "
                    "write, or tell the other one to",
                    tuple(paths),
                    (controller, *others),
                )
        return found

    def _undone(self, trigger: Trigger, at: float, past: _Past) -> None:
        """Notes what of that which we wrote somebody else has changed."""
        if trigger.own not in ("process", "foreign") or not trigger.paths:
            return
        target = f"{trigger.kind} {trigger.key}"
        ours = past.ours.get(target, {})
        for path in trigger.paths:
            if path in ours:
                place = target, path
                recent = [(then, who) for then, who in past.rounds.get(place, []) if at - then <= WINDOW]
                past.rounds[place] = [*recent[-ROUNDS:], (at, trigger.by or "somebody whom the object does not name")]
                if len(past.rounds) > 50:
                    del past.rounds[next(iter(past.rounds))]

    def _again(self, controller: str, request: Request, run: Run, past: _Past) -> Loop | None:
        if run.result != "requeue" or _written(run) or not all(trigger.source == "again" for trigger in run.triggers):
            past.again = 0
            return None
        past.again += 1
        if past.again < AGAIN:
            return None
        return Loop(
            controller,
            request,
            "again",
            f"each run asks to run again at once, {past.again} times in a row, with nothing changed: its pause doubles each time. "
            "Return requeue_after with the seconds after which it is worth looking again, or watch what it waits for",
        )

    def _hot(self, controller: str, request: Request, run: Run, past: _Past) -> Loop | None:
        if _written(run) or not all(trigger.source in ("timer", "again") for trigger in run.triggers):
            past.hot = 0
            return None
        if run.at - past.minute > 60.0:
            past.minute, past.hot = run.at, 0
        past.hot += 1
        if past.hot < HOT:
            return None
        return Loop(
            controller,
            request,
            "hot",
            f"it runs {past.hot / max(run.at - past.minute, 1e-3) * 60:.0f} times per minute with nothing changed, since each run asks "
            f"for the next one in {run.requeue_after or 0:g} s. Ask for it later, or watch what it waits for",
        )


def _target(write: Write) -> str:
    return f"{write.kind} {write.key}"


def _written(run: Run) -> dict[str, None]:
    """What a run has changed, each field with its object."""
    changed = [write for write in run.writes if write.changed and not write.code]
    return dict.fromkeys(f"{path} of {_target(write)}" for write in changed for path in write.paths)


def _listed(paths: list[str]) -> str:
    shown = ", ".join(paths[:3])
    return f"{shown} and {len(paths) - 3} more" if len(paths) > 3 else shown
