"""The buckets of histograms. They are controller-runtime's and client-go's: queries name them."""

from __future__ import annotations

RECONCILE_BUCKETS = (
    *(0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    *(1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60),
)
REQUEST_BUCKETS = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
SIZE_BUCKETS = (64, 256, 512, *(kib << 10 for kib in (1, 4, 16, 64, 256)), 1 << 20, 4 << 20, 16 << 20)


def _exponential(start: float, factor: float, count: int) -> tuple[float, ...]:
    # Multiplied step by step, as Go does it: the fourth is then 9.999999999999999e-06, and dashboards know it under that name.
    buckets = [start]
    for _ in range(count - 1):
        buckets.append(buckets[-1] * factor)
    return tuple(buckets)


QUEUE_BUCKETS = _exponential(1e-08, 10, 12)
