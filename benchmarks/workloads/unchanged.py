"""Runs that apply ten children of which nothing has to change: processor time for a run, and requests, of which there should be none."""

from __future__ import annotations

import itertools

from benchmarks.figures import Goal
from benchmarks.peers import python, run
from benchmarks.workload import Figures, Row, Setting, Side, Workload

_numbers = itertools.count()


def work(setting: Setting) -> Figures:
    """On the embedded server, in a process of its own; the objects are new for each round."""
    plane = setting.servers.embedded
    where = setting.servers.created(plane, f"unchanged-{next(_numbers)}", setting.objects)
    taken = run(python("setpoint_peer", "unchanged", "-n", setting.objects, "--ns", where), plane.kubeconfig)
    return {"run_us": taken["run_us"], "requests": taken["requests"]}


WORKLOADS = [
    Workload(
        "unchanged",
        "reconciles that apply ten unchanged children",
        100,
        [Side("setpoint", work)],
        [
            Row("CPU for a reconcile", "run_us", "µs", goal=Goal("value", 300)),
            Row("requests for a reconcile", "requests", "", goal=Goal("value", 0)),
        ],
        quick=20,
    )
]
