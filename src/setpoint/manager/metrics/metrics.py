"""Metrics under controller-runtime's names, labels and buckets, so that existing dashboards and alerts work.

They are a listener of the observer: no other room knows of them. One registry belongs to one manager.

https://book.kubebuilder.io/reference/metrics-reference
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.gc_collector import GCCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector, RestrictedRegistry

from setpoint.controller.events import PriorityRaised, QueueAdded, QueueTaken, RunEnded, RunStarted, TimerSet
from setpoint.manager.listening import Faults
from setpoint.manager.metrics.buckets import QUEUE_BUCKETS, RECONCILE_BUCKETS
from setpoint.manager.metrics.depth import Depth
from setpoint.manager.metrics.own import CacheAge, OwnMetrics
from setpoint.manager.metrics.requests import RequestMetrics
from setpoint.world import Clock, Event

MOST_UNCOUNTED = 10_000
"""So many events at most wait to be counted until somebody looks."""
RESULTS = ("success", "error", "requeue", "requeue_after")


class _Running(Collector):
    """What is known only at the moment of asking: depth, and how long unfinished runs have been going on."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def describe(self) -> list[Any]:
        return []

    def collect(self) -> list[GaugeMetricFamily]:
        depth = GaugeMetricFamily("workqueue_depth", "Current depth of workqueue", labels=["name", "controller", "priority"])
        unfinished = GaugeMetricFamily(
            "workqueue_unfinished_work_seconds",
            "Seconds of work in progress that work_duration has not observed yet",
            labels=["name", "controller"],
        )
        longest = GaugeMetricFamily(
            "workqueue_longest_running_processor_seconds",
            "Seconds for which the longest running processor has been running",
            labels=["name", "controller"],
        )
        now = self._metrics.clock.monotonic()
        for name, started in self._metrics.started.items():
            ages = [now - at for at in started.values()]
            for priority, waiting in self._metrics.depth[name].by_label.items():
                depth.add_metric([name, name, priority], waiting)
            unfinished.add_metric([name, name], sum(ages))
            longest.add_metric([name, name], max(ages, default=0.0))
        return [depth, unfinished, longest]


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


class _Series(msgspec.Struct, frozen=True, kw_only=True):
    """The series of one controller."""

    results: dict[str, Counter]
    errors: Counter
    terminal: Counter
    panics: Counter
    timeouts: Counter
    seconds: Histogram
    active: Gauge
    adds: Counter
    retries: Counter
    waited: Histogram
    worked: Histogram


class Metrics:
    """The metrics of one manager. `host` is the API server's, as requests are labelled; `request_metrics` adds the opt-in ones of requests.

    The metrics of requests and those that only Setpoint has are in files of their own.

    With `when_asked`, events are kept, and counted only when somebody looks: in a simulation hardly ever anybody does.
    """

    def __init__(self, clock: Clock, host: str, *, request_metrics: bool = False, when_asked: bool = False) -> None:
        self.clock = clock
        self.registry: CollectorRegistry = _Registry(self._complete)
        self._when_asked = when_asked
        self._uncounted: list[Event] = []
        self.depth: dict[str, Depth] = {}
        self.started: dict[str, dict[str, float]] = {}
        # Looking a series up by its labels costs more than counting, so each is looked up once.
        self._series: dict[str, _Series] = {}
        self._unbegun: dict[str, int] = {}
        self._faults = Faults("the metrics")

        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(name, text, labels or ("controller",), registry=self.registry)

        self._reconciles = counter(
            "controller_runtime_reconcile_total", "Total number of reconciliations per controller", "controller", "result"
        )
        self._errors = counter("controller_runtime_reconcile_errors_total", "Total number of reconciliation errors per controller")
        self._terminal = counter(
            "controller_runtime_terminal_reconcile_errors_total", "Total number of terminal reconciliation errors per controller"
        )
        self._panics = counter("controller_runtime_reconcile_panics_total", "Total number of reconciliation panics per controller")
        self._timeouts = counter("controller_runtime_reconcile_timeouts_total", "Total number of reconciliation timeouts per controller")
        self._seconds = Histogram(
            "controller_runtime_reconcile_time_seconds",
            "Length of time per reconciliation per controller",
            ["controller"],
            buckets=RECONCILE_BUCKETS,
            registry=self.registry,
        )
        self._loops = counter("setpoint_reconcile_loops_total", "Total number of keys found going round in circles per controller")
        self._concurrency = Gauge(
            "controller_runtime_max_concurrent_reconciles",
            "Maximum number of concurrent reconciles per controller",
            ["controller"],
            registry=self.registry,
        )
        self._active = Gauge(
            "controller_runtime_active_workers", "Number of currently used workers per controller", ["controller"], registry=self.registry
        )
        self._adds = counter("workqueue_adds_total", "Total number of adds handled by workqueue", "name", "controller")
        self._retries = counter("workqueue_retries_total", "Total number of retries handled by workqueue", "name", "controller")
        self._waited = self._queue_histogram(
            "workqueue_queue_duration_seconds", "How long in seconds an item stays in workqueue before being requested"
        )
        self._worked = self._queue_histogram(
            "workqueue_work_duration_seconds", "How long in seconds processing an item from workqueue takes"
        )
        self.registry.register(_Running(self))
        self._own = OwnMetrics(self.registry)
        requests = RequestMetrics(self.registry, host, detailed=request_metrics)
        handlers: dict[type[Event], Callable[[Any], None]] = {
            QueueAdded: self._added,
            QueueTaken: self._taken,
            PriorityRaised: self._raised,
            TimerSet: self._delayed,
            RunStarted: self._run_started,
            RunEnded: self._run_ended,
        }
        self._handlers: dict[type[Event], list[Callable[[Any], None]]] = {}
        for handled in (handlers, self._own.handlers, requests.handlers):
            for event, handler in handled.items():
                self._handlers.setdefault(event, []).append(handler)

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
        """Whenever somebody looks, the series of a controller are there, at zero at first: rates and alerts work from the first event on.

        They are begun with the first event, or when somebody looks: in a simulation that is never, for most.
        """
        self.depth[name] = Depth()
        self.started[name] = {}
        self._own.include_controller(name)
        self._unbegun[name] = concurrency

    def _complete(self) -> None:
        self._count_kept()
        for name in list(self._unbegun):
            self._begin(name)
        self._own.begin_all()

    def _begin(self, name: str) -> _Series:
        self._loops.labels(name)
        self._concurrency.labels(name).set(self._unbegun.pop(name))
        series = self._series[name] = _Series(
            results={result: self._reconciles.labels(name, result) for result in RESULTS},
            errors=self._errors.labels(name),
            terminal=self._terminal.labels(name),
            panics=self._panics.labels(name),
            timeouts=self._timeouts.labels(name),
            seconds=self._seconds.labels(name),
            active=self._active.labels(name),
            adds=self._adds.labels(name, name),
            retries=self._retries.labels(name, name),
            waited=self._waited.labels(name, name),
            worked=self._worked.labels(name, name),
        )
        return series

    def _series_of(self, name: str) -> _Series | None:
        series = self._series.get(name)
        return self._begin(name) if series is None and name in self._unbegun else series

    def went_round(self, name: str) -> None:
        """Counts a key that goes round in circles."""
        self._loops.labels(name).inc()

    def hear(self, event: Event) -> None:
        """Counts one event; those of controllers that were not included are another manager's."""
        if isinstance(event, RunStarted | RunEnded):
            self._note_run(event)
        handlers = self._handlers.get(type(event))
        if handlers is None:
            return
        if not self._when_asked:
            self._count(event, handlers)
            return
        self._uncounted.append(event)
        if len(self._uncounted) >= MOST_UNCOUNTED:
            self._count_kept()

    def _count_kept(self) -> None:
        kept, self._uncounted = self._uncounted, []
        for event in kept:
            self._count(event, self._handlers[type(event)])

    def _count(self, event: Event, handlers: Iterable[Callable[[Any], None]]) -> None:
        try:
            for handler in handlers:
                handler(event)
        except Exception as error:
            self._faults.tell(event, error)

    def _note_run(self, event: RunStarted | RunEnded) -> None:
        started = self.started.get(event.controller)
        if started is None:
            return
        if isinstance(event, RunStarted):
            started[event.run] = self.clock.monotonic()
        else:
            started.pop(event.run, None)

    def _queue_histogram(self, name: str, text: str) -> Histogram:
        return Histogram(name, text, ["name", "controller"], buckets=QUEUE_BUCKETS, registry=self.registry)

    def _added(self, event: QueueAdded) -> None:
        series = self._series_of(event.controller)
        if series is not None:
            series.adds.inc()
            self.depth[event.controller].added(event.priority)

    def _taken(self, event: QueueTaken) -> None:
        series = self._series_of(event.controller)
        if series is not None:
            series.waited.observe(event.waited)
            self.depth[event.controller].taken(event.priority)

    def _raised(self, event: PriorityRaised) -> None:
        if event.controller in self.depth:
            self.depth[event.controller].raised(event.before, event.priority)

    def _delayed(self, event: TimerSet) -> None:
        series = self._series_of(event.controller)
        if series is not None:
            series.retries.inc()

    def _run_started(self, event: RunStarted) -> None:
        series = self._series_of(event.controller)
        if series is not None:
            series.active.inc()

    def _run_ended(self, event: RunEnded) -> None:
        series = self._series_of(event.controller)
        if series is None:
            return
        series.active.dec()
        series.results[event.result].inc()
        series.seconds.observe(event.seconds)
        series.worked.observe(event.seconds)
        if event.result == "error":
            series.errors.inc()
        if event.terminal:
            series.terminal.inc()
        if event.panicked:
            series.panics.inc()
        if event.timed_out:
            series.timeouts.inc()
