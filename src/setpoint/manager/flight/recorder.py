"""The flight recorder: for each key of each controller its last runs, why each ran, what it read and wrote, and what came of it.

It is a listener of the observer. Nothing of it can be reached from a reconciler, and nothing depends on it. What it keeps is bounded: so
many runs of a key, so many bytes in all; the key whose last run is the longest ago is forgotten first.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from setpoint.api import Answer, Operation
from setpoint.client.events import RequestDone, RequestSent
from setpoint.controller import (
    ApplySkipped,
    CacheRead,
    Cause,
    EffectCalled,
    Held,
    QueueTaken,
    Released,
    RunEnded,
    RunStarted,
    TimerSet,
    Triggered,
)
from setpoint.manager.flight.causes import Causes
from setpoint.manager.flight.heads import head_of
from setpoint.manager.flight.in_progress import KEPT, Active, Asked
from setpoint.manager.flight.loops import Loop, Loops
from setpoint.manager.flight.records import Effect, Read, Run, Trigger, bounded, pack, unpack
from setpoint.manager.flight.writers import OwnWrites
from setpoint.manager.flight.writes import place_of, write_of
from setpoint.manager.listening import Faults
from setpoint.objects import Request
from setpoint.world import Clock, Event

log = logging.getLogger("setpoint.why")

CAPACITY = 32 * 2**20
"""Bytes that all records may take, about: 100,000 keys that ran once, or some 5,000 that have ten eventful runs each."""
RUNS = 10
"""So many runs of a key are kept."""
_CROWD = 1000
"""Where more keys than that wait for their runs, less is kept of why."""
_IN_FLIGHT = 1024
"""So many writes that wait for their answers are remembered."""
_EACH = 160
"""What a key costs beside its records: its places in the tables, and the record's own header."""

Before: TypeAlias = Callable[[Operation], tuple[str, bytes | None]]
"""What the cache knows of the object that an operation is about: its kind's name, "" if that is not known, and its state."""

_NONE_TAKEN = None, None, 0.0


class _Keys:
    """The keys of one controller. `histories` is in the order of their last runs."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.asked: dict[Request, Asked | Cause] = {}
        self.active: dict[Request, Active] = {}
        self.held: dict[Request, None] = {}
        self.failed: dict[Request, int] = {}
        self.histories: dict[Request, tuple[bytes, ...]] = {}
        self.bytes = 0
        self.taken: tuple[Request | None, Asked | Cause | None, float] = _NONE_TAKEN


class FlightRecorder:
    """See the module. Only controllers that were included are recorded: others belong to another manager of the same world.

    `before` gives the state of an object that is about to be written. `found` is called with each loop that is found.
    """

    def __init__(self, clock: Clock, before: Before, found: Callable[[Loop], None], *, capacity: int = CAPACITY, runs: int = RUNS) -> None:
        self.loops: Loops = Loops()
        self._clock = clock
        self._before = before
        self._found = found
        self._capacity = capacity
        self._runs = runs
        self._own = OwnWrites()
        self._controllers: dict[str, _Keys] = {}
        self._size = 0
        self._running: dict[str, Active] = {}
        self._sent: dict[int, tuple[Operation, str, bytes | None]] = {}
        self._faults = Faults("the flight recorder")
        self._causes = Causes(clock, self._own)
        self._handlers: dict[type[Event], Callable[[Any], None]] = {
            Triggered: self._triggered,
            QueueTaken: self._taken,
            TimerSet: self._timer_set,
            RunStarted: self._run_started,
            RunEnded: self._run_ended,
            CacheRead: self._cache_read,
            RequestSent: self._request_sent,
            RequestDone: self._request_done,
            ApplySkipped: self._apply_skipped,
            EffectCalled: self._effect_called,
            Held: self._was_held,
            Released: self._was_released,
        }

    def include_controller(self, name: str, kind: str) -> None:
        """Records a controller from now on; `kind` is its primary kind."""
        self._controllers[name] = _Keys(kind)

    @property
    def hears(self) -> Iterable[type[Event]]:
        """The sorts of events that it records."""
        return self._handlers

    def hear(self, event: Event) -> None:
        """Takes one event."""
        handler = self._handlers.get(type(event))
        if handler is None:
            return
        try:
            handler(event)
        except Exception as error:
            self._faults.tell(event, error)

    # what it knows

    @property
    def size(self) -> int:
        """The bytes that the records take, about."""
        return self._size

    def __len__(self) -> int:
        """Of how many keys there are records."""
        return sum(len(keys.histories) for keys in self._controllers.values())

    def runs(self, controller: str, request: Request) -> list[Run]:
        """The last runs of a key, the oldest first; a run that goes on is the last, with `result` "". [] if none is known (any more)."""
        keys = self._controllers.get(controller)
        if keys is None:
            return []
        found = [unpack(data) for data in keys.histories.get(request, ())]
        active = keys.active.get(request)
        if active is not None:
            seconds = self._clock.monotonic() - active.started
            found.append(self._record(keys, controller, request, active, seconds))
        return found

    def pending(self, controller: str, request: Request) -> list[Trigger]:
        """What the key's next run has been asked for by, so far."""
        keys = self._controllers.get(controller)
        asked = None if keys is None else keys.asked.get(request)
        return [] if asked is None else self._causes.triggers(controller, asked)

    def state(self, controller: str, request: Request) -> str:
        """`running`, `held`, `queued`, or `waiting`: for a change or a timer."""
        keys = self._controllers[controller]
        if request in keys.active:
            return "running"
        if request in keys.held:
            return "held"
        return "queued" if request in keys.asked else "waiting"

    def busy(self, controller: str) -> dict[Request, str]:
        """The state of each key that is not merely waiting."""
        keys = self._controllers[controller]
        return {request: self.state(controller, request) for request in (*keys.active, *keys.held, *keys.asked)}

    def known(self, controller: str) -> list[Request]:
        """The keys that there are records of, the one that ran the longest ago first."""
        return list(self._controllers[controller].histories)

    def triggered_by(self, kind: str, key: Request) -> dict[tuple[str, Request], None]:
        """The keys (and their controllers) that this object has triggered a run of, as far as records go back."""
        found: dict[tuple[str, Request], None] = {}
        place = str(key)
        text = place.encode(errors="replace")  # as it stands in a record: most need not be decoded
        for controller, keys in self._controllers.items():
            for request, records in keys.histories.items():
                if any(
                    text in data and any(trigger.kind == kind and trigger.key == place for trigger in unpack(data).triggers)
                    for data in records
                ):
                    found[controller, request] = None
        return found

    # asks

    def _triggered(self, event: Triggered) -> None:
        keys = self._controllers.get(event.controller)
        if keys is None:
            return
        asked = keys.asked.get(event.request)
        if asked is None:
            keys.asked[event.request] = event.cause  # most have one cause
            return
        if isinstance(asked, Cause):
            asked = keys.asked[event.request] = Asked(asked)
        asked.add(event.cause, len(keys.asked) > _CROWD)

    def _taken(self, event: QueueTaken) -> None:
        if (keys := self._controllers.get(event.controller)) is not None:
            # Its run starts before anything else happens, unless it is passed over, and then nobody asks for it any more.
            keys.taken = event.request, keys.asked.pop(event.request, None), event.waited

    def _timer_set(self, event: TimerSet) -> None:
        keys = self._controllers.get(event.controller)
        active = None if keys is None else keys.active.get(event.request)
        if active is not None:
            active.after = event.after

    def _was_held(self, event: Held) -> None:
        if (keys := self._controllers.get(event.controller)) is not None:
            keys.held[event.request] = None

    def _was_released(self, event: Released) -> None:
        if (keys := self._controllers.get(event.controller)) is not None:
            keys.held.pop(event.request, None)

    # runs

    def _run_started(self, event: RunStarted) -> None:
        keys = self._controllers.get(event.controller)
        if keys is not None:
            request, asked, waited = keys.taken
            keys.taken = _NONE_TAKEN
            if request != event.request:
                asked, waited = keys.asked.pop(event.request, None), 0.0
            active = Active(asked, event.at, waited)
            keys.active[event.request] = self._running[event.run] = active

    def _run_ended(self, event: RunEnded) -> None:
        keys = self._controllers.get(event.controller)
        if keys is None:
            return
        request = event.request
        active = keys.active.pop(request, None)
        if active is None:
            return  # it began before this controller was included
        self._running.pop(event.run, None)
        run = self._record(keys, event.controller, request, active, event.seconds)
        run.result, run.requeue_after = event.result, active.after
        if event.error:
            run.error = bounded(event.error, 500)
            keys.failed[request] = run.attempt
        elif keys.failed:
            keys.failed.pop(request, None)
        self._keep(keys, request, run)
        if log.isEnabledFor(logging.DEBUG):
            log.debug("%s", in_a_line(run), extra={"controller": event.controller, "request": str(request)})
        loop = self.loops.ran(event.controller, request, run)
        if loop is not None:
            self._found(loop)

    def _record(self, keys: _Keys, controller: str, request: Request, active: Active, seconds: float) -> Run:
        asked = active.asked
        run = Run(
            at=self._clock.now().timestamp() - seconds,
            seconds=seconds,
            waited=active.waited,
            result="",
            attempt=keys.failed.get(request, 0) + 1 if keys.failed else 1,
        )
        if asked is not None:
            run.triggers = self._causes.triggers(controller, asked)
            run.more = 0 if isinstance(asked, Cause) else asked.more
        if (reads := active.reads) is not None:
            run.reads = [Read(kind, key, live, times) for (kind, key, live), times in reads.places.items()]
            run.more += reads.more
        if (did := active.did) is not None:
            run.writes, run.skipped, run.effects = list(did.writes), list(did.skipped), list(did.effects)
            run.more += did.more
        return run

    def _keep(self, keys: _Keys, request: Request, run: Run) -> None:
        data = pack(run)
        known = keys.histories.pop(request, ())
        grown = len(data) if known else _EACH + len(data)
        if len(known) >= self._runs:
            for one in known[: len(known) - self._runs + 1]:
                grown -= len(one)
            known = known[len(known) - self._runs + 1 :]
        keys.histories[request] = (*known, data)
        self._grow(keys, grown)
        if self._size > self._capacity:
            self._forget_one(max(self._controllers.values(), key=lambda keys: keys.bytes))

    def _forget_one(self, keys: _Keys) -> None:
        while self._size > self._capacity and len(keys.histories) > 1:
            request = next(iter(keys.histories))
            keys.failed.pop(request, None)
            self._grow(keys, -_EACH - sum(len(one) for one in keys.histories.pop(request)))

    def _grow(self, keys: _Keys, by: int) -> None:
        keys.bytes += by
        self._size += by

    # what it did

    def _cache_read(self, event: CacheRead) -> None:
        active = self._running.get(event.run)
        if active is not None:
            active.read(event.info.kind, "" if event.key is None else bounded(str(event.key)), False)

    def _request_sent(self, event: RequestSent) -> None:
        operation = event.operation
        if not operation.is_write or operation.resource is None:
            return
        # Now, and not when the answer is there: by then the cache may have heard of what was written.
        self._sent[id(operation)] = (operation, *self._before(operation))
        if len(self._sent) > _IN_FLIGHT:
            del self._sent[next(iter(self._sent))]  # a transport that failed by itself: nothing will come of it

    def _request_done(self, event: RequestDone) -> None:
        operation = event.operation
        active = self._running.get(operation.run) if operation.run else None
        if not operation.is_write:
            if active is not None and operation.resource is not None and operation.verb in ("get", "list"):
                kind, _ = self._before(operation)
                active.read(kind or operation.resource.group_resource, bounded(place_of(operation)), True)
            return
        _, kind, before = self._sent.pop(id(operation), (operation, "", None))
        if operation.resource is None:
            return
        outcome = event.outcome
        after = outcome.body if isinstance(outcome, Answer) and outcome.ok else None
        head = head_of(after)
        if active is None:
            return  # a write outside of runs, or of somebody else in the same world: the object names who it was
        was = head_of(before)
        # A write that changed nothing is answered with the version that somebody else has made.
        if head is not None and head.uid and (was is None or (was.uid, was.resource_version) != (head.uid, head.resource_version)):
            self._own.add(head.uid, head.resource_version, operation.run)
        if after is not None and operation.verb == "delete" and was is not None:
            self._own.add(was.uid, "", operation.run)  # its event's version is nowhere told
        did = active.deeds()
        if len(did.writes) >= KEPT:
            did.more += 1
            return
        did.writes.append(write_of(operation, event.code, kind or operation.resource.group_resource, before, after, head))

    def _apply_skipped(self, event: ApplySkipped) -> None:
        keys = self._controllers.get(event.controller)
        active = None if keys is None else keys.active.get(event.request)
        if active is not None and len((did := active.deeds()).skipped) < KEPT:
            did.skipped[bounded(f"{event.kind} {event.key}")] = None

    def _effect_called(self, event: EffectCalled) -> None:
        keys = self._controllers.get(event.controller)
        active = None if keys is None else keys.active.get(event.request)
        if active is not None and len((did := active.deeds()).effects) < KEPT:
            did.effects.append(Effect(bounded(event.call, 200), event.seconds, bounded(event.error, 200)))


def in_a_line(run: Run) -> str:
    """A run in one line, for the log."""
    why = ", ".join(f"{trigger.kind} {trigger.key} {trigger.what}".strip() for trigger in run.triggers) or "nothing known"
    did = ", ".join(f"{write.operation} {write.kind} {write.key}" for write in run.writes if write.changed) or "nothing written"
    return f"ran because of: {why}; {did}; {run.result}{f' ({run.error})' if run.error else ''}"
