"""Runs that write: one status for each object, one at a time and eight in parallel; and 1,600 keys with two calls each, read and write.

Each program writes to objects of its own, since who has written is written down in them. The second is on the embedded server.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from benchmarks.figures import Goal
from benchmarks.peers import go, python, run
from benchmarks.workload import Figures, Row, Setting, Side, Workload

TYPED = "controller-runtime"


def status(workers: int, objects: int) -> Workload:
    """One status write each."""

    def work(side: str) -> Side:
        def do(setting: Setting) -> Figures:
            where = setting.servers.filled("widgets", count=setting.objects, own=f"status-{side}")
            return figures(run(command(setting, side, "status", where, workers), setting.servers.real.kubeconfig), setting.objects)

        return Side(side, do)

    goals = Goal("ratio", 1 / 3) if workers > 1 else None, Goal("ratio", 1.0, at_least=True) if workers > 1 else None
    about = f"one status write for each object, {workers} in parallel, kube-apiserver"
    return Workload(f"status-{workers}", about, objects, [work("setpoint"), work(TYPED)], rows("a write", *goals))


def calls() -> Workload:
    """Two calls each; the namespaces are new for each round."""
    numbers: Iterator[int] = itertools.count()

    def work(side: str) -> Side:
        def do(setting: Setting) -> Figures:
            plane = setting.servers.embedded
            where = setting.servers.created(plane, f"calls-{side}-{next(numbers)}", setting.objects)
            return figures(run(command(setting, side, "calls", where, 8), plane.kubeconfig), setting.objects)

        return Side(side, do)

    about = "a live read and a status write for each object, 8 in parallel, embedded server"
    return Workload("two-calls", about, 1_600, [work("setpoint"), work(TYPED)], rows("an object", None, None))


def command(setting: Setting, side: str, what: str, where: str, workers: int) -> list[str]:
    """For one side."""
    if side == TYPED:
        return go.command(setting.servers, what, "-n", setting.objects, "-ns", where, "-workers", workers)
    return python("setpoint_peer", what, "-n", setting.objects, "--ns", where, "--workers", workers)


def figures(taken: dict[str, float], objects: int) -> Figures:
    """For one object."""
    rate = taken["per_s"] if "per_s" in taken else taken["updates_per_s"]
    return {"cpu_ms": taken["phase_cpu_s"] / objects * 1e3, "per_s": rate, "peak_mb": taken["rss_peak_mb"]}


def rows(of: str, cpu: Goal | None, rate: Goal | None) -> list[Row]:
    """Ours beside controller-runtime's."""
    return [
        Row(f"CPU of the client for {of}", "cpu_ms", "ms", peer=TYPED, goal=cpu),
        Row("objects a second", "per_s", "/s", peer=TYPED, goal=rate),
        Row("peak memory of the process", "peak_mb", "MB", peer=TYPED),
    ]


WORKLOADS = [status(1, 5_000), status(8, 5_000), calls()]
