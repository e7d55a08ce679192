"""How many watch events the embedded server delivers in a second of its processor time, over TLS, each watcher on a connection of its own.

What the same changes cost without watchers is taken off. There are as many changes as objects are asked for.
"""

from __future__ import annotations

import asyncio
import itertools
import re

from benchmarks.figures import Goal
from benchmarks.plane import MERGE, Line, Plane, namespace
from benchmarks.workload import Figures, Row, Setting, Side, Workload

WATCHERS = 100
_SEQUENCE = re.compile(rb'"sequence":"(\d+)"')
_numbers = itertools.count()


def work(setting: Setting) -> Figures:
    """Changes one object, first unseen, and then before all watchers."""
    return asyncio.run(delivered(setting.servers.embedded, f"watched-{next(_numbers)}", setting.objects))


async def delivered(plane: Plane, where: str, changes: int) -> Figures:
    """The figures of one round."""
    writer = await plane.open()
    await namespace(writer, where)
    maps = f"/api/v1/namespaces/{where}/configmaps"
    data = {"padding": "x" * 700, "sequence": "0"}
    await writer.ask("POST", maps, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": data})

    async def change(numbers: range) -> float:
        before = plane.cpu
        for number in numbers:
            await writer.ask("PATCH", f"{maps}/c", {"data": {"sequence": str(number)}}, MERGE)
        return plane.cpu - before

    alone = await change(range(1, changes + 1))
    before, memory = plane.cpu, plane.memory
    watchers = [await plane.open() for _ in range(WATCHERS)]
    for watcher in watchers:
        await watcher.follow(f"{maps}?watch=1&timeoutSeconds=3000")
    each = (plane.memory - memory) / WATCHERS
    await asyncio.gather(*(until(watcher, changes) for watcher in watchers))
    before = plane.cpu
    reading = asyncio.gather(*(until(watcher, 2 * changes) for watcher in watchers))
    await change(range(changes + 1, 2 * changes + 1))
    await reading
    used = max(plane.cpu - before - alone, 1e-9)
    for line in (writer, *watchers):
        line.close()
    return {"per_cpu_s": changes * WATCHERS / used, "each_us": used / (changes * WATCHERS) * 1e6, "watcher_bytes": each}


async def until(watcher: Line, sequence: int) -> None:
    """Reads until a change has come."""
    left, seen = b"", -1
    while seen < sequence:
        part = await watcher.reader.read(1 << 16)
        assert part, "the watch has ended"
        if found := _SEQUENCE.findall(left + part):
            seen = int(found[-1])
        left = part[-64:]


WORKLOADS = [
    Workload(
        "watch",
        f"embedded server: changes of one object, each to {WATCHERS} watchers",
        300,
        [Side("setpoint", work)],
        [
            Row("deliveries for a second of CPU", "per_cpu_s", "/s", goal=Goal("value", 100_000, at_least=True)),
            Row("CPU for a delivery", "each_us", "µs"),
            Row("memory for a watcher, with its connection", "watcher_bytes", "B"),
        ],
        of="changes",
    )
]
