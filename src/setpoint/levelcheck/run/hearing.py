"""`Hearing`: what happens within the processes, as their observers tell it: it is recorded, and may be where something goes wrong."""

from __future__ import annotations

import contextvars
from datetime import timedelta
from typing import TYPE_CHECKING

from setpoint.cache.events import Delivered as CacheDelivered
from setpoint.controller import events as runs
from setpoint.levelcheck.recording import Delivered, Key, Read, RunBegan, RunEnded, TimerSet
from setpoint.levelcheck.run.wire import BOOKKEEPING, Wire, users_line
from setpoint.objects import Request
from setpoint.world import Event

if TYPE_CHECKING:
    from setpoint.levelcheck.run.execution import Execution


class Hearing:
    """Listens to all processes of a run. With `every_run_twice`, each run that is none of those is followed by another one."""

    def __init__(self, run: Execution) -> None:
        self._run = run
        self.every_run_twice = False
        self._again: dict[tuple[str, str, str], None] = {}
        """Whose run is followed by another one: the process, the controller, the key."""
        self._second: dict[tuple[str, str, str], None] = {}
        """Whose next run is that other one."""

    def hear(self, name: str, wire: Wire, event: Event) -> None:
        """Takes an event of a process."""
        match event:
            case runs.RunStarted():
                self._run_started(name, event)
            case runs.RunEnded():
                self._run_ended(name, wire, event)
            case runs.TimerSet():
                self._timer_set(name, event)
            case runs.CacheRead():
                self._cache_read(name, wire, event)
            case CacheDelivered():
                self._delivered(name, event)
            case _:
                return

    def _run_started(self, name: str, event: runs.RunStarted) -> None:
        self._run.activity.ran(event.controller, str(event.request))
        site = self._run.sites.site("run", event.controller, str(event.request))
        self._run.tell(RunBegan(at=self._run.now, process=name, site=site, run=event.run))
        for decision in self._run.decide(site, name):
            assert decision.fault == "F11", decision
            self._again[name, event.controller, str(event.request)] = None

    def _run_ended(self, name: str, wire: Wire, event: runs.RunEnded) -> None:
        self._run.tell(RunEnded(at=self._run.now, process=name, run=event.run, result=event.result, error=event.error))
        for resource, hold in list(wire.holds.items()):
            if hold.how == "run" and hold.ran:
                wire.release(resource)
        place = (name, event.controller, str(event.request))
        if place in self._second:
            del self._second[place]
        elif self.every_run_twice or place in self._again:
            self._again.pop(place, None)
            self._second[place] = None
            self._trigger(name, event.controller, event.request)

    def _trigger(self, name: str, controller: str, request: Request) -> None:
        process = self._run.processes.get(name)
        if process is not None:
            self._run.loop.call_soon(process.trigger, controller, request, context=contextvars.Context())

    def _timer_set(self, name: str, event: runs.TimerSet) -> None:
        site = self._run.sites.site("timer", event.controller, str(event.request))
        self._run.activity.timer(event.controller, str(event.request), self._run.now + event.after, event.after, event.cause.source)
        self._run.tell(TimerSet(at=self._run.now, process=name, site=site, after=event.after, cause=event.cause.source))
        for decision in self._run.decide(site, name):
            if decision.fault == "F17":
                self._run.processes[name].shift_clock(timedelta(seconds=decision.seconds))
            else:
                self._run.loop.call_soon(self._run.programs.crash, name, decision, context=contextvars.Context())

    def _cache_read(self, name: str, wire: Wire, event: runs.CacheRead) -> None:
        resource = event.info.group_version_resource.group_resource
        hold = wire.holds.get(resource)
        if hold is not None:
            hold.ran = True
        self._run.tell(
            Read(
                at=self._run.now,
                process=name,
                run=event.run,
                resource=resource,
                namespace="" if event.key is None else event.key.namespace,
                name="" if event.key is None else event.key.name,
                seen=wire.seen(resource),
                true=self._run.newest.get(resource, 0),
                line=users_line(),
            )
        )

    def _delivered(self, name: str, event: CacheDelivered) -> None:
        kind = self._run.plane.server.kinds.named(event.kind)
        resource = event.kind.kind.lower() if kind is None else kind.resource.group_resource
        if resource in BOOKKEEPING:
            return
        key = Key(resource, event.key.namespace, event.key.name)
        revision = event.version if isinstance(event.version, int) else 0
        self._run.tell(Delivered(at=self._run.now, process=name, key=key, type=event.type, revision=revision))
