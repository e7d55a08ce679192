"""How busy a manager's thread pool is, as metrics: `setpoint_thread_pool_*`."""

from __future__ import annotations

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from setpoint.controller.thread_pool import ThreadPool


class ThreadPoolUse(Collector):
    """Asks the pool when it is asked itself."""

    def __init__(self, pool: ThreadPool) -> None:
        self._pool = pool

    def describe(self) -> list[GaugeMetricFamily]:
        """Nothing: what it gives needs no check against other collectors."""
        return []

    def collect(self) -> list[GaugeMetricFamily]:
        """The three figures of this moment."""
        pool = self._pool
        return [
            GaugeMetricFamily("setpoint_thread_pool_size", "Number of threads for plain def reconcilers", value=pool.size),
            GaugeMetricFamily("setpoint_thread_pool_in_use", "Number of those that are taken", value=pool.in_use),
            GaugeMetricFamily("setpoint_thread_pool_waiting", "Number of runs that wait for one", value=pool.waiting),
        ]
