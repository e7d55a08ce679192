"""What a further object costs where there are few, and where there are many: to hold it, and to reconcile it with one cached get.

A further object, since a start costs something whatever there is: few is what 9,000 more than 1,000 take, many what 90,000 more than 10,000
take. The server is one that only streams.
"""

from __future__ import annotations

from benchmarks.figures import Goal
from benchmarks.peers import python, run
from benchmarks.workload import Figures, Row, Setting, Side, Workload

STEP = 10


def taken(setting: Setting, objects: int) -> dict[str, float]:
    """In all, with so many."""
    kubeconfig = setting.servers.streaming(objects)
    words = ("-n", objects, "--ns", "")
    sync = run(python("setpoint_peer", "sync", *words), kubeconfig)
    packed = run(python("setpoint_peer", "sync", *words, "--compress"), kubeconfig)
    drain = run(python("setpoint_peer", "drain", *words, "--get"), kubeconfig)
    return {
        "sync_us": sync["cpu_phase_s"] * 1e6,
        "bytes": sync["rss_mb"] * 2**20,
        "packed_bytes": packed["rss_mb"] * 2**20,
        "run_us": drain["phase_cpu_s"] * 1e6,
    }


def side(name: str, shrunk: int) -> Side:
    """From a tenth of the objects to all, both so many times fewer."""

    def work(setting: Setting) -> Figures:
        many = max(STEP, setting.objects // shrunk)
        few = many // STEP
        before, after = taken(setting, few), taken(setting, many)
        return {what: (after[what] - before[what]) / (many - few) for what in after}

    return Side(name, work)


FEW, AT_MOST = "where they are few", Goal("ratio", 1.15)
WORKLOADS = [
    Workload(
        "growth",
        "a further object, up to all there are, beside one of the first tenth",
        100_000,
        [side("setpoint", 1), side(FEW, STEP)],
        [
            Row("CPU to sync a further object", "sync_us", "µs", peer=FEW, goal=AT_MOST),
            Row("memory for a further object", "bytes", "B", peer=FEW, goal=AT_MOST),
            Row("memory for a further object, compressed", "packed_bytes", "B", peer=FEW, goal=AT_MOST),
            Row("CPU to reconcile a further object", "run_us", "µs", peer=FEW, goal=AT_MOST),
        ],
        quick=2_000,
    )
]
