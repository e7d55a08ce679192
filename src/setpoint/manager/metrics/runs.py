"""Metrics of queues and runs, by controller: what the events of a controller come to, and the families that show it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from setpoint.controller.events import ApplySkipped, PriorityRaised, QueueAdded, QueueTaken, RunEnded, RunStarted, TimerSet
from setpoint.manager.metrics.tally import Spread, Tally
from setpoint.world import Clock, Event


class RunMetrics(Collector):
    """Counts the events of those controllers that were included; others are another manager's.

    `noting` are handlers of what must be known at once, `counting` of what nobody asks for before the metrics are collected.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.tallies: dict[str, Tally] = {}
        self.noting: Mapping[type[Event], Callable[[Any], None]] = {RunStarted: self._started, RunEnded: self._goes_on_no_more}
        self.counting: Mapping[type[Event], Callable[[Any], None]] = {
            QueueAdded: self._added,
            QueueTaken: self._taken,
            PriorityRaised: self._raised,
            TimerSet: self._delayed,
            RunEnded: self._ended,
            ApplySkipped: self._skipped,
        }

    def _started(self, event: RunStarted) -> None:
        tally = self.tallies.get(event.controller)
        if tally is not None:
            tally.started[event.run] = event.at

    def _goes_on_no_more(self, event: RunEnded) -> None:
        tally = self.tallies.get(event.controller)
        if tally is not None:
            tally.started.pop(event.run, None)

    def _added(self, event: QueueAdded) -> None:
        tally = self.tallies.get(event.controller)
        if tally is not None:
            tally.adds += 1
            tally.depth.added(event.priority)

    def _taken(self, event: QueueTaken) -> None:
        tally = self.tallies.get(event.controller)
        if tally is not None:
            tally.waited.observe(event.waited)
            tally.depth.taken(event.priority)

    def _raised(self, event: PriorityRaised) -> None:
        tally = self.tallies.get(event.controller)
        if tally is not None:
            tally.depth.raised(event.before, event.priority)

    def _delayed(self, event: TimerSet) -> None:
        tally = self.tallies.get(event.controller)
        if tally is not None:
            tally.retries += 1

    def _ended(self, event: RunEnded) -> None:
        tally = self.tallies.get(event.controller)
        if tally is None:
            return
        seconds = event.seconds
        tally.results[event.result] += 1
        tally.seconds.observe(seconds)
        tally.worked.observe(seconds)
        if event.error:
            tally.errors += event.result == "error"
            tally.terminal += event.terminal
            tally.panics += event.panicked
            tally.timeouts += event.timed_out
            tally.conflicts += event.lost_race

    def _skipped(self, event: ApplySkipped) -> None:
        tally = self.tallies.get(event.controller)
        if tally is not None:
            tally.skipped += 1

    # shown

    def describe(self) -> list[Metric]:
        """The families without series, so that nobody else takes their names."""
        return self._families({})

    def collect(self) -> list[Metric]:
        """The families of this moment."""
        return self._families(self.tallies)

    def _families(self, tallies: Mapping[str, Tally]) -> list[Metric]:
        now = self._clock.monotonic()

        def counter(name: str, text: str, count: Callable[[Tally], int], *labels: str) -> CounterMetricFamily:
            family = CounterMetricFamily(name, text, labels=labels or ["controller"])
            for controller, tally in tallies.items():
                family.add_metric([controller] * max(len(labels), 1), count(tally))
            return family

        def gauge(name: str, text: str, value: Callable[[Tally], float], *labels: str) -> GaugeMetricFamily:
            family = GaugeMetricFamily(name, text, labels=labels or ["controller"])
            for controller, tally in tallies.items():
                family.add_metric([controller] * max(len(labels), 1), value(tally))
            return family

        def histogram(name: str, text: str, spread: Callable[[Tally], Spread], *labels: str) -> HistogramMetricFamily:
            family = HistogramMetricFamily(name, text, labels=labels or ["controller"])
            for controller, tally in tallies.items():
                found = spread(tally)
                family.add_metric([controller] * max(len(labels), 1), found.buckets, found.sum)
            return family

        def ages(tally: Tally) -> list[float]:
            return [now - at for at in tally.started.values()]

        results = CounterMetricFamily(
            "controller_runtime_reconcile_total", "Total number of reconciliations per controller", labels=["controller", "result"]
        )
        depth = GaugeMetricFamily("workqueue_depth", "Current depth of workqueue", labels=["name", "controller", "priority"])
        for controller, tally in tallies.items():
            for result, count in tally.results.items():
                results.add_metric([controller, result], count)
            for priority, waiting in tally.depth.by_label.items():
                depth.add_metric([controller, controller, priority], waiting)
        queue = ("name", "controller")
        return [
            results,
            counter(
                "controller_runtime_reconcile_errors_total",
                "Total number of reconciliation errors per controller",
                lambda tally: tally.errors,
            ),
            counter(
                "controller_runtime_terminal_reconcile_errors_total",
                "Total number of terminal reconciliation errors per controller",
                lambda tally: tally.terminal,
            ),
            counter(
                "controller_runtime_reconcile_panics_total",
                "Total number of reconciliation panics per controller",
                lambda tally: tally.panics,
            ),
            counter(
                "controller_runtime_reconcile_timeouts_total",
                "Total number of reconciliation timeouts per controller",
                lambda tally: tally.timeouts,
            ),
            histogram(
                "controller_runtime_reconcile_time_seconds",
                "Length of time per reconciliation per controller",
                lambda tally: tally.seconds,
            ),
            gauge(
                "controller_runtime_max_concurrent_reconciles",
                "Maximum number of concurrent reconciles per controller",
                lambda tally: tally.concurrency,
            ),
            gauge(
                "controller_runtime_active_workers",
                "Number of currently used workers per controller",
                lambda tally: len(tally.started),
            ),
            depth,
            counter("workqueue_adds_total", "Total number of adds handled by workqueue", lambda tally: tally.adds, *queue),
            counter("workqueue_retries_total", "Total number of retries handled by workqueue", lambda tally: tally.retries, *queue),
            histogram(
                "workqueue_queue_duration_seconds",
                "How long in seconds an item stays in workqueue before being requested",
                lambda tally: tally.waited,
                *queue,
            ),
            histogram(
                "workqueue_work_duration_seconds",
                "How long in seconds processing an item from workqueue takes",
                lambda tally: tally.worked,
                *queue,
            ),
            gauge(
                "workqueue_unfinished_work_seconds",
                "Seconds of work in progress that work_duration has not observed yet",
                lambda tally: sum(ages(tally)),
                *queue,
            ),
            gauge(
                "workqueue_longest_running_processor_seconds",
                "Seconds for which the longest running processor has been running",
                lambda tally: max(ages(tally), default=0.0),
                *queue,
            ),
            counter(
                "setpoint_reconcile_conflicts_total",
                "Total number of runs that lost a race against another writer, per controller",
                lambda tally: tally.conflicts,
            ),
            counter(
                "setpoint_reconcile_loops_total",
                "Total number of keys found going round in circles per controller",
                lambda tally: tally.loops,
            ),
            counter(
                "setpoint_applies_skipped_total",
                "Total number of applies not sent, since nothing had changed, per controller",
                lambda tally: tally.skipped,
            ),
        ]
