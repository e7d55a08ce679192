"""What the level checker needs for a run: `level_check/`, a controller of five kinds and some thirty writes."""

from __future__ import annotations

import sys

from benchmarks.peers import run
from benchmarks.workload import Figures, Row, Setting, Side, Workload


def work(setting: Setting) -> Figures:
    """All single faults; the processor time of all processes of the check."""
    taken = run([sys.executable, "-m", "benchmarks.level_check", "--json", "--shops", str(min(3, setting.objects))])
    return {"run_ms": taken["seconds"] / taken["runs"] * 1e3, "runs": taken["runs"], "cpu_s": taken["seconds"]}


WORKLOADS = [
    Workload(
        "level-check",
        "the level checker, all single faults of a controller of five kinds",
        3,
        [Side("setpoint", work)],
        [Row("CPU for a run", "run_ms", "ms"), Row("runs", "runs", ""), Row("CPU of the whole check", "cpu_s", "s")],
        of="shops",
        quick=1,
    )
]
