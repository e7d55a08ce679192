"""Metrics that controller-runtime does not have. Their names begin with `setpoint_`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from setpoint.controller.events import EffectCalled, MapperFailed, PredicateFailed, SourceFailed
from setpoint.manager.metrics.buckets import REQUEST_BUCKETS
from setpoint.world import Clock, Event

CALLS = 100
"""So many values the label `call` may have; all others are `other`."""
LONGEST = 100
"""So many characters of a value are kept."""


class OwnMetrics:
    """Failed triggers and effects, by controller. Lost races and spared applies are counted with the runs."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(name, text, ["controller", *labels], registry=registry)

        self._mappers = counter("setpoint_mapper_errors_total", "Total number of mapper calls that failed, per controller and kind", "kind")
        self._sources = counter(
            "setpoint_source_errors_total", "Total number of times that a source failed, per controller and source", "source"
        )
        self._predicates = counter(
            "setpoint_predicate_errors_total", "Total number of predicate calls that failed, per controller and kind", "kind"
        )
        self._effects = Histogram(
            "setpoint_effect_duration_seconds",
            "Seconds that calls to the outside took, per controller and call",
            ["controller", "call"],
            buckets=REQUEST_BUCKETS,
            registry=registry,
        )
        self._effect_errors = counter(
            "setpoint_effect_errors_total", "Total number of calls to the outside that failed, per controller and call", "call"
        )
        self._controllers: dict[str, None] = {}
        self._calls: dict[str, None] = {}
        self.handlers: Mapping[type[Event], Callable[[Any], None]] = {
            MapperFailed: self._mapper_failed,
            PredicateFailed: self._predicate_failed,
            SourceFailed: self._source_failed,
            EffectCalled: self._effect_called,
        }

    def include_controller(self, name: str) -> None:
        """Counts what becomes of a controller."""
        self._controllers[name] = None

    def _mapper_failed(self, event: MapperFailed) -> None:
        if event.controller in self._controllers:
            self._mappers.labels(event.controller, event.kind).inc()

    def _predicate_failed(self, event: PredicateFailed) -> None:
        if event.controller in self._controllers:
            self._predicates.labels(event.controller, event.kind).inc()

    def _source_failed(self, event: SourceFailed) -> None:
        if event.controller in self._controllers:
            self._sources.labels(event.controller, event.source).inc()

    def _effect_called(self, event: EffectCalled) -> None:
        if event.controller not in self._controllers:
            return
        call = event.call[:LONGEST].encode(errors="replace").decode()  # whatever stands there must not spoil all metrics
        if call not in self._calls:
            if len(self._calls) < CALLS:
                self._calls[call] = None
            else:
                call = "other"
        self._effects.labels(event.controller, call).observe(event.seconds)
        errors = self._effect_errors.labels(event.controller, call)
        if event.error:
            errors.inc()


class CacheAge(Collector):
    """`setpoint_cache_age_seconds`: how long ago the server was last heard of a kind; the oldest of its caches. It is a minute at most, as
    long as all is well, since servers send bookmarks.

    `contacts` gives the kinds, as `deployments.apps`, and when each was last heard of, None for not yet: it is as old as the process.
    """

    def __init__(self, clock: Clock, contacts: Callable[[], Iterable[tuple[str, float | None]]]) -> None:
        self._clock = clock
        self._contacts = contacts
        self._began = clock.monotonic()

    def describe(self) -> list[Any]:
        return []

    def collect(self) -> list[GaugeMetricFamily]:
        """See `Collector`."""
        now = self._clock.monotonic()
        ages: dict[str, float] = {}
        for kind, last in self._contacts():
            age = now - (self._began if last is None else last)
            ages[kind] = max(age, ages.get(kind, 0.0))
        family = GaugeMetricFamily(
            "setpoint_cache_age_seconds",
            "Seconds since the API server was last heard of a kind that is cached",
            labels=["kind"],
        )
        for kind, age in ages.items():
            family.add_metric([kind], age)
        return [family]
