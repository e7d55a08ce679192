"""Metrics under controller-runtime's names, labels and buckets, so that existing dashboards and alerts work.

They are a listener of the observer: no other room knows of them. One registry belongs to one manager.

https://book.kubebuilder.io/reference/metrics-reference
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from prometheus_client import CollectorRegistry, Gauge
from prometheus_client.core import Metric
from prometheus_client.gc_collector import GCCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import RestrictedRegistry

from setpoint.manager.listening import Faults
from setpoint.manager.metrics.own import CacheAge, OwnMetrics
from setpoint.manager.metrics.requests import RequestMetrics
from setpoint.manager.metrics.runs import RunMetrics
from setpoint.manager.metrics.tally import Tally
from setpoint.world import Clock, Event

MOST_UNCOUNTED = 10_000
"""So many events at most wait to be counted until somebody looks."""


class _Registry(CollectorRegistry):
    """A registry that is completed before anybody looks at it."""

    def __init__(self, complete: Callable[[], None]) -> None:
        super().__init__()
        self._complete = complete

    def collect(self) -> Iterator[Metric]:
        self._complete()
        return iter(super().collect())

    def restricted_registry(self, names: Iterable[str]) -> RestrictedRegistry:
        self._complete()
        return super().restricted_registry(names)


class Metrics:
    """The metrics of one manager. `host` is the API server's, as requests are labelled; `request_metrics` adds the opt-in ones of requests.

    The metrics of runs, those of requests and those that only Setpoint has are in files of their own.

    With `when_asked`, events are kept, and counted only when somebody looks: in a simulation hardly ever anybody does.
    """

    def __init__(self, clock: Clock, host: str, *, request_metrics: bool = False, when_asked: bool = False) -> None:
        self.clock = clock
        self.registry: CollectorRegistry = _Registry(self._count_kept)
        self._when_asked = when_asked
        self._uncounted: list[Event] = []
        self._faults = Faults("the metrics")
        self._runs = RunMetrics(clock)
        self.registry.register(self._runs)
        self._own = OwnMetrics(self.registry)
        requests = RequestMetrics(self.registry, host, detailed=request_metrics)
        self._handlers: dict[type[Event], list[Callable[[Any], None]]] = {}
        for handled in (self._runs.counting, self._own.handlers, requests.handlers):
            for event, handler in handled.items():
                self._handlers.setdefault(event, []).append(handler)
        self._at_once: dict[type[Event], tuple[Callable[[Any], None], ...]] = {}
        for event in (*self._handlers, *(noted for noted in self._runs.noting if noted not in self._handlers)):
            noting = (self._runs.noting[event],) if event in self._runs.noting else ()
            counting = self._handlers.get(event, [])
            self._at_once[event] = (*noting, *([self._keep] if counting and when_asked else counting))

    @property
    def hears(self) -> Iterable[type[Event]]:
        """The sorts of events that it counts."""
        return self._at_once

    @property
    def started(self) -> dict[str, dict[str, float]]:
        """The runs of each controller that go on, each with the world's monotonic time of its start."""
        return {name: tally.started for name, tally in self._runs.tallies.items()}

    def include_process(self) -> None:
        """Adds `process_*` and `python_*`: the program's own figures, which belong into one registry of a program only."""
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        GCCollector(registry=self.registry)

    def include_election(self, name: str, is_leader: Callable[[], bool]) -> None:
        """Adds whether this process leads, as it is when it is asked for: `name` is the Lease's."""
        status = Gauge("leader_election_master_status", "Whether this process is the leader: 0 or 1", ["name"], registry=self.registry)
        status.labels(name).set_function(is_leader)

    def include_caches(self, contacts: Callable[[], Iterable[tuple[str, float | None]]]) -> None:
        """Adds how old the caches are; see `CacheAge`."""
        self.registry.register(CacheAge(self.clock, contacts))

    def include_controller(self, name: str, concurrency: int) -> None:
        """From now on the series of a controller are there, at zero at first: rates and alerts work from the first event on."""
        self._runs.tallies[name] = Tally(concurrency)
        self._own.include_controller(name)

    def went_round(self, name: str) -> None:
        """Counts a key that goes round in circles."""
        self._runs.tallies[name].loops += 1

    def hear(self, event: Event) -> None:
        """Counts one event; those of controllers that were not included are another manager's."""
        try:
            for handler in self._at_once.get(type(event), ()):
                handler(event)
        except Exception as error:
            self._faults.tell(event, error)

    def _keep(self, event: Event) -> None:
        self._uncounted.append(event)
        if len(self._uncounted) >= MOST_UNCOUNTED:
            self._count_kept()

    def _count_kept(self) -> None:
        kept, self._uncounted = self._uncounted, []
        for event in kept:
            try:
                for handler in self._handlers[type(event)]:
                    handler(event)
            except Exception as error:
                self._faults.tell(event, error)
