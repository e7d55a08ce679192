"""Metrics as text: in Prometheus' own format, or in OpenMetrics where who asks prefers that.

Of prometheus_client's output, what no dashboard knows is left out (`_created` series), and in Prometheus' own format the bounds of buckets
are written as Go writes them (`le="1"`), since queries name them so. OpenMetrics prescribes `le="1.0"`.

https://prometheus.io/docs/instrumenting/exposition_formats/
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from prometheus_client.exposition import choose_encoder, generate_latest
from prometheus_client.registry import Collector, CollectorRegistry
from prometheus_client.samples import Sample

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

OPENMETRICS = "application/openmetrics-text"
TEXT = "text/plain; version=0.0.4; charset=utf-8"


class _Shown(Collector):
    def __init__(self, registry: CollectorRegistry, *, as_go: bool) -> None:
        self._registry = registry
        self._as_go = as_go

    def collect(self) -> Iterable[Metric]:
        for metric in self._registry.collect():
            samples = [sample for sample in metric.samples if not sample.name.endswith("_created")]
            if self._as_go and metric.type == "histogram":
                samples = [_bounded_as_go(sample) for sample in samples]
            metric.samples = samples
            yield metric


def _bounded_as_go(sample: Sample) -> Sample:
    bound = sample.labels.get("le", "")
    return sample._replace(labels={**sample.labels, "le": bound[:-2]}) if bound.endswith(".0") else sample


def exposition(registry: CollectorRegistry, accept: str = "") -> bytes:
    """The metrics in the format that an `Accept` header asks for; Prometheus' text format without one."""
    return negotiated(registry, accept)[0]


def negotiated(registry: CollectorRegistry, accept: str) -> tuple[bytes, str]:
    """The same, with the media type."""
    shown = CollectorRegistry(auto_describe=False)
    if OPENMETRICS in accept:
        encode, media = choose_encoder(accept)
        if media.startswith(OPENMETRICS):
            shown.register(_Shown(registry, as_go=False))
            return encode(shown), media
    shown.register(_Shown(registry, as_go=True))
    return generate_latest(shown), TEXT
