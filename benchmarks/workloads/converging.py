"""The same convergent work by Setpoint and kopf: every object of a namespace is to get a status that follows from its spec.

Measured is the process from when its modules are loaded until all objects have theirs, as somebody sees who looks at them. On the embedded
server, in a process of its own; the objects are new for each round.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import time

from benchmarks.figures import Goal
from benchmarks.peers import python
from benchmarks.plane import Plane, cpu_of, peak_of
from benchmarks.workload import Failed, Figures, Row, Setting, Side, Workload
from benchmarks.workloads.latency import said, talking

LONGEST = 1_200.0
"""Seconds after which it is given up."""
_numbers = itertools.count()


def side(name: str) -> Side:
    """One of the two."""

    def work(setting: Setting) -> Figures:
        plane = setting.servers.embedded
        where = setting.servers.created(plane, f"converge-{next(_numbers)}", setting.objects)
        words = ("--ns", where, "-n", setting.objects) if name == "setpoint" else (where, setting.objects)
        command = python(f"{name}_peer", "converge", *words, needs=name)
        with talking(command, plane) as program:
            said(program, "started")
            before, began = cpu_of(program.pid), time.perf_counter()
            asyncio.run(converged(plane, where, setting.objects))
            used, seconds = cpu_of(program.pid) - before, time.perf_counter() - began
            return {"cpu_ms": used / setting.objects * 1e3, "cpu_s": used, "seconds": seconds, "peak_mb": peak_of(program.pid)}

    return Side(name, work)


async def converged(plane: Plane, where: str, objects: int) -> None:
    """Returns when so many objects are ready. Raises `Failed` if that takes too long."""
    line = await plane.open()
    path = f"/apis/bench.setpoint.dev/v1/namespaces/{where}/widgets"
    began = time.perf_counter()
    while True:
        found = json.loads(await line.ask("GET", path))["items"]
        if sum(each.get("status", {}).get("phase") == "Ready" for each in found) == objects:
            line.close()
            return
        if time.perf_counter() - began > LONGEST:
            raise Failed(f"has not converged after {LONGEST:.0f} s")
        await asyncio.sleep(0.25)


WORKLOADS = [
    Workload(
        "converge",
        "every object gets a status that follows from its spec, embedded server",
        1_000,
        [side("setpoint"), side("kopf")],
        [
            Row("CPU for an object", "cpu_ms", "ms", peer="kopf", goal=Goal("ratio", 1 / 20)),
            Row("CPU in all", "cpu_s", "s", peer="kopf"),
            Row("peak memory of the process", "peak_mb", "MB", peer="kopf"),
            Row("until all are ready", "seconds", "s", peer="kopf"),
        ],
    )
]
