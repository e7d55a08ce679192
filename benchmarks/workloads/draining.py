"""The initial keys, one worker: runs that do nothing, that read their object from the cache, that list what it owns by its index."""

from __future__ import annotations

from benchmarks.figures import Goal
from benchmarks.peers import go, python, run
from benchmarks.workload import Figures, Row, Setting, Side, Workload

TYPED, UNSTRUCTURED = "controller-runtime", "controller-runtime, unstructured"


def workload(name: str, about: str, flag: str, goal: Goal | None) -> Workload:
    """One of them; `flag` is what both programs call it."""
    kinds = ("widgets", "children") if flag == "list" else ("widgets",)

    def ours(setting: Setting) -> Figures:
        where = setting.servers.filled(*kinds, count=setting.objects)
        words = [f"--{flag}"] if flag else []
        command = python("setpoint_peer", "drain", "-n", setting.objects, "--ns", where, *words)
        taken = run(command, setting.servers.real.kubeconfig)
        return figures(taken["phase_cpu_s"], taken["per_s"], setting.objects)

    def theirs(mode: str) -> Side:
        def work(setting: Setting) -> Figures:
            where = setting.servers.filled(*kinds, count=setting.objects)
            words = [f"-{flag}"] if flag else []
            command = go.command(setting.servers, "drain", "-n", setting.objects, "-ns", where, "-mode", mode, *words)
            taken = run(command, setting.servers.real.kubeconfig)
            return figures(taken["drain_cpu_s"], taken["reconciles_per_s"], setting.objects)

        return Side(TYPED if mode == "typed" else UNSTRUCTURED, work)

    sides = [Side("setpoint", ours), theirs("typed"), theirs("unstructured")]
    rows = [
        Row("reconciles a second", "per_s", "/s", peer=TYPED, goal=goal),
        Row("reconciles a second", "per_s", "/s", peer=UNSTRUCTURED),
        Row("CPU for a reconcile", "cpu_us", "µs", peer=TYPED),
        Row("CPU for a reconcile", "cpu_us", "µs", peer=UNSTRUCTURED),
    ]
    return Workload(name, about, 10_000, sides, rows)


def figures(cpu: float, rate: float, objects: int) -> Figures:
    """For one run."""
    return {"cpu_us": cpu / objects * 1e6, "per_s": rate}


WORKLOADS = [
    workload("drain", "reconcile what there is at the start: nothing to do", "", Goal("ratio", 0.6, at_least=True)),
    workload("drain-get", "reconcile what there is at the start: one cached get", "get", Goal("ratio", 1.25, at_least=True)),
    workload("drain-list", "reconcile what there is at the start: a cached get, and a cached list by owner", "list", None),
]
