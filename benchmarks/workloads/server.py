"""The embedded server: what a start costs, and requests beside kube-apiserver with its etcd.

The same requests by the same client, raw HTTP/1.1 over TLS on kept connections, some at a time: ConfigMaps of 1 KB, Deployments as people
write them. Processor time is that of the server's processes; for the real one, less what they use when nobody asks. Rates are for a second
of it: Setpoint's server is one process on one core, the real one is not, and neither has the machine for itself.
"""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.figures import Goal
from benchmarks.peers import environment
from benchmarks.plane import APPLY, MERGE, STRATEGIC, Line, Plane, namespace
from benchmarks.servers import embedded
from benchmarks.workload import Figures, Row, Setting, Side, Workload

AT_A_TIME = 8
LISTED = 500
IDLE = 2.0
"""Seconds for which nobody asks, to see what a server uses then."""
REAL = "kube-apiserver"

IN_PROCESS = """
import time, asyncio
from setpoint.api import GroupVersionResource, Operation
from setpoint.cluster.server import ApiServer
from setpoint.world import real_world

async def main():
    server = ApiServer(real_world())
    answer = await server.handle(Operation(verb="get", resource=GroupVersionResource("", "v1", "namespaces"), name="default"))
    assert answer.ok
    print(time.process_time())

asyncio.run(main())
"""


def config_map(name: str) -> dict[str, Any]:
    """About 1 KB."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": {"app": "web"}}, "data": {"text": "x" * 700}}


def deployment(name: str, image: str = "web:1") -> dict[str, Any]:
    """As people write one."""
    labels = {"app": name}
    container = {
        "name": "web",
        "image": image,
        "ports": [{"containerPort": 8080}],
        "env": [{"name": "MODE", "value": "fast"}],
        "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
    }
    spec = {
        "replicas": 2,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
    }
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "labels": labels}, "spec": spec}


Asking: TypeAlias = Callable[[Line, int], Awaitable[bytes]]


def work(namespace: str) -> dict[str, tuple[Asking, float]]:
    """What is asked, in this order: how, for the number of a request, and by how much fewer requests than the others it needs."""
    maps, deployments = f"/api/v1/namespaces/{namespace}/configmaps", f"/apis/apps/v1/namespaces/{namespace}/deployments"
    manager = "fieldManager=bench&force=true"

    def image(number: int, version: int) -> dict[str, Any]:
        return {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": f"web:{version}-{number}"}]}}}}

    return {
        "create a ConfigMap": (lambda line, n: line.ask("POST", maps, config_map(f"c{n}")), 1),
        "get it": (lambda line, n: line.ask("GET", f"{maps}/c{n}"), 1),
        f"list {LISTED} of them": (lambda line, n: line.ask("GET", f"{maps}?limit={LISTED}"), 10),
        "merge patch": (lambda line, n: line.ask("PATCH", f"{maps}/c{n}", {"data": {"n": str(n)}}, MERGE), 1),
        "delete it": (lambda line, n: line.ask("DELETE", f"{maps}/c{n}"), 1),
        "create a Deployment": (lambda line, n: line.ask("POST", deployments, deployment(f"d{n}")), 1),
        "strategic merge patch": (lambda line, n: line.ask("PATCH", f"{deployments}/d{n}", image(n, 2), STRATEGIC), 1),
        "apply, new": (lambda line, n: line.ask("PATCH", f"{deployments}/a{n}?{manager}", deployment(f"a{n}"), APPLY), 1),
        "apply, unchanged": (lambda line, n: line.ask("PATCH", f"{deployments}/a{n}?{manager}", deployment(f"a{n}"), APPLY), 1),
        "apply, changed": (lambda line, n: line.ask("PATCH", f"{deployments}/a{n}?{manager}", deployment(f"a{n}", "web:2"), APPLY), 1),
    }


async def measured(plane: Plane, where: str, requests: int) -> Figures:
    """One round: CPU microseconds for a request, and requests for a CPU second, by what is asked."""
    lines = [await plane.open() for _ in range(AT_A_TIME)]
    await namespace(lines[0], where)
    before = plane.cpu
    await asyncio.sleep(IDLE)
    idle = (plane.cpu - before) / IDLE
    found: dict[str, float] = {}
    for what, (asking, fewer) in work(where).items():
        count = max(AT_A_TIME, int(requests / fewer))

        async def some(line: Line, first: int, asking: Asking = asking, count: int = count) -> None:
            for number in range(first, count, AT_A_TIME):
                await asking(line, number)

        loop = asyncio.get_running_loop()
        used, began = plane.cpu, loop.time()
        await asyncio.gather(*(some(line, at) for at, line in enumerate(lines)))
        each = max(1e-9, plane.cpu - used - idle * (loop.time() - began)) / count
        found |= {f"{what}: us": each * 1e6, f"{what}: per_cpu_s": 1 / each}
    for line in lines:
        line.close()
    return found


def side(name: str) -> Side:
    """One of the two; the namespace is new for each round."""
    numbers = itertools.count()

    def do(setting: Setting) -> Figures:
        plane = setting.servers.embedded if name == "setpoint" else setting.servers.real
        return asyncio.run(measured(plane, f"asked-{next(numbers)}", setting.objects))

    return Side(name, do)


def start(_: Setting) -> Figures:
    """What a start costs until the first answer: in a process that has nothing else, and as the program, over HTTPS."""
    ended = subprocess.run([sys.executable, "-c", IN_PROCESS], env=environment(), check=True, capture_output=True, text=True)
    return {"in_process_s": float(ended.stdout), "program_s": started()}


def started() -> float:
    """Seconds of processor time of `setpoint server` when its first answer is there."""
    with tempfile.TemporaryDirectory() as folder, embedded(Path(folder)) as plane:
        opened = plane.connection()
        opened.request("GET", "/api/v1/namespaces/default", headers=plane.headers)
        assert opened.getresponse().status == 200
        used = plane.cpu
        opened.close()
    return used


def rows() -> list[Row]:
    """Each kind of request beside the real server's."""
    create = "create a ConfigMap"
    found = [
        Row("creates for a second of CPU", f"{create}: per_cpu_s", "/s", goal=Goal("value", 2_000, at_least=True)),
        Row("creates for a second of CPU", f"{create}: per_cpu_s", "/s", peer=REAL, goal=Goal("ratio", 10, at_least=True)),
    ]
    return found + [Row(f"CPU to {what}", f"{what}: us", "µs", peer=REAL) for what in work("")]


WORKLOADS = [
    Workload(
        "server-start",
        "embedded server: from the start to its first answer",
        1,
        [Side("setpoint", start)],
        [
            Row("CPU, inside a program", "in_process_s", "s", goal=Goal("value", 0.3)),
            Row("CPU, as a program, over HTTPS", "program_s", "s", goal=Goal("value", 0.3)),
        ],
        of="start",
        quick=1,
    ),
    Workload("server", f"embedded server, over HTTPS, {AT_A_TIME} at a time", 500, [side("setpoint"), side(REAL)], rows(), of="requests"),
]
