"""All workloads, in the order of the table."""

from __future__ import annotations

from benchmarks.workload import Workload
from benchmarks.workloads import checking, converging, draining, growing, latency, server, syncing, unchanged, watching, writing

WORKLOADS: dict[str, Workload] = {
    workload.name: workload
    for room in (syncing, draining, writing, latency, growing, unchanged, converging, server, watching, checking)
    for workload in room.WORKLOADS
}
