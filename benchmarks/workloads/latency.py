"""From the server's answer to a change, until the run that it asks for begins; at rest, and while others change other objects.

The changes are made by this process, one after the other, and the programs tell when their run began, by the clock that all processes of a
machine share. A run may begin before the answer is there: then the figure is less than nothing.
"""

from __future__ import annotations

import asyncio
import itertools
import statistics
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from benchmarks.figures import Goal
from benchmarks.objects import name_of
from benchmarks.peers import LONGEST, ROOT, environment, go, python
from benchmarks.plane import MERGE, Plane
from benchmarks.workload import Failed, Figures, Row, Setting, Side, Workload

TYPED = "controller-runtime"
CHANGES = 1_000
RATE = 50
"""Changes of other objects a second."""


def workload(name: str, about: str, load: bool) -> Workload:
    """One of the two."""
    revisions = itertools.count(int(time.time()) * 1000)

    def side(of: str) -> Side:
        def work(setting: Setting) -> Figures:
            count = max(2, setting.objects)
            plane, where = setting.servers.real, setting.servers.filled("widgets", count=count, own="latency")
            command = (
                python("setpoint_peer", "latency", "-n", count, "--ns", where)
                if of == "setpoint"
                else go.command(setting.servers, "latency", "-n", count, "-ns", where)
            )
            with ExitStack() as stack:
                program = stack.enter_context(talking(command, plane))
                said(program, "ready")
                if load:
                    stack.enter_context(talking(python("load", where, count, RATE), plane))
                return asyncio.run(measured(plane, where, program, revisions, min(CHANGES, setting.objects)))

        return Side(of, work)

    rows = [
        Row("from the answer to the run, median", "p50_ms", "ms", peer=TYPED, goal=Goal("difference", 0.5)),
        Row("from the answer to the run, 99th percentile", "p99_ms", "ms", peer=TYPED, goal=Goal("difference", 3.0)),
        Row("the change itself, median", "change_ms", "ms", peer=TYPED),
    ]
    return Workload(name, about, 10_000, [side("setpoint"), side(TYPED)], rows)


async def measured(plane: Plane, where: str, program: subprocess.Popen[str], revisions: Iterator[int], changes: int) -> Figures:
    """Changes the first object so often, and waits for its run each time."""
    line = await plane.open()
    path = f"/apis/bench.setpoint.dev/v1/namespaces/{where}/widgets/{name_of(0)}"
    after, took = [], []
    for revision in itertools.islice(revisions, changes):
        began = time.monotonic_ns()
        await line.ask("PATCH", path, {"spec": {"revision": revision}}, MERGE)
        answered = time.monotonic_ns()
        seen, at = said(program).split()
        if int(seen) != revision:
            raise Failed(f"saw revision {seen} after {revision} was written")
        after.append((int(at) - answered) / 1e6)
        took.append((answered - began) / 1e6)
    line.close()
    return {"p50_ms": statistics.median(after), "p99_ms": percentile(after, 99), "change_ms": statistics.median(took)}


def percentile(values: list[float], of: int) -> float:
    """The value that so many of a hundred do not exceed."""
    return sorted(values)[min(len(values) - 1, len(values) * of // 100)]


@contextmanager
def talking(command: list[str], plane: Plane) -> Iterator[subprocess.Popen[str]]:
    """A program that one talks with; it ends with the context, or when it takes too long."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=environment(plane.kubeconfig), cwd=ROOT
    ) as program:
        giving_up = threading.Timer(LONGEST, program.kill)
        giving_up.start()
        try:
            yield program
        finally:
            giving_up.cancel()
            program.kill()


def said(program: subprocess.Popen[str], expected: str = "") -> str:
    """The next line that it says. Raises `Failed` where it has ended, or says something else than is `expected`."""
    assert program.stdout is not None
    line = program.stdout.readline()
    if not line or (expected and line.strip() != expected):
        raise Failed(f"said {line.strip()!r}" if line else "has ended too early")
    return line


WORKLOADS = [
    workload("latency", "from a change to the run that it asks for, at rest", load=False),
    workload("latency-load", f"from a change to the run that it asks for, beside {RATE} changes of others a second", load=True),
]
