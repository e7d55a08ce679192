"""What the cache holds, as metrics: `setpoint_cache_objects` and `setpoint_cache_bytes`, for each kind."""

from __future__ import annotations

from typing import Any

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from setpoint.cache import Cache


class CacheMemory(Collector):
    """Asks the cache when it is asked. The cache keeps sums, so that this costs the same however much it holds."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def describe(self) -> list[Any]:
        """Nothing is known before the kinds are."""
        return []

    def collect(self) -> list[GaugeMetricFamily]:
        """One sample of both for each kind that is watched, as `deployments.apps`."""
        held: dict[str, tuple[int, int]] = {}
        for informer in self._cache.informers:
            kind = str(informer.info.group_version_resource.group_resource)
            objects, size = held.get(kind, (0, 0))
            held[kind] = objects + informer.objects, size + informer.size
        objects_ = GaugeMetricFamily("setpoint_cache_objects", "Objects in the cache", labels=["kind"])
        bytes_ = GaugeMetricFamily("setpoint_cache_bytes", "Bytes kept of the objects in the cache, without their keys", labels=["kind"])
        for kind, (objects, size) in held.items():
            objects_.add_metric([kind], objects)
            bytes_.add_metric([kind], size)
        return [objects_, bytes_]
