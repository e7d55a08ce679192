"""The embedded server beside the real kube-apiserver: what requests cost each of them, and what a start costs the embedded one.

    KUBEBUILDER_ASSETS=$(tools/envtest/build) python benchmarks/server.py [--rounds 3] [--requests 500] [--only-start]

Both are asked the same by the same client, raw HTTP/1.1 over TLS on kept connections, in turn: `setpoint server --no-controllers` in
memory, and kube-apiserver with etcd. Printed are requests a second and CPU for each request of the server's processes (for the real one
both, less what they use when nobody asks), medians of the rounds, and the ratios. CPU is what to compare: rates are of a machine that
others, the client among them, keep busy.

A start is measured in processes of their own, smallest of several, beside one that does nothing but `import asyncio`.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import re
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

ROOT = Path(__file__).parents[1]
JSON = "application/json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
LISTED = 500
IDLE = 3.0
"""Seconds for which nobody asks, to see what a server uses then."""

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
YARDSTICK = "import time, asyncio; print(time.process_time())"


@dataclass
class Plane:
    """Where a server is, and its processes."""

    host: str
    port: int
    token: str
    tls: ssl.SSLContext
    processes: tuple[int, ...]

    @property
    def cpu(self) -> float:
        """Seconds of processor time so far."""
        return sum(cpu_of(process) for process in self.processes)


def cpu_of(process: int) -> float:
    """Seconds of processor time that a process has used so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def plane_of(kubeconfig: Path, *processes: int) -> Plane:
    """The server of a kubeconfig with one cluster and a token."""
    config = yaml.safe_load(kubeconfig.read_text())
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    address = urlsplit(cluster["server"])
    if "certificate-authority-data" in cluster:
        tls = ssl.create_default_context(cadata=b64decode(cluster["certificate-authority-data"]).decode())
    else:
        tls = ssl._create_unverified_context()  # as the kubeconfig says
    return Plane(address.hostname or "", address.port or 0, user["token"], tls, processes)


class Client:
    """One kept connection."""

    def __init__(self, plane: Plane, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._plane, self._reader, self._writer = plane, reader, writer

    async def ask(self, method: str, path: str, body: object = None, content_type: str = JSON) -> bytes:
        """One request, and the body of its answer, which is a good one."""
        content = json.dumps(body).encode() if body is not None else b""
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: {self._plane.host}\r\nAuthorization: Bearer {self._plane.token}\r\n"
            f"Accept: application/json\r\nContent-Type: {content_type}\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        self._writer.write(head.encode() + content)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        if length := re.search(rb"(?i)content-length: (\d+)", answer):
            got = await self._reader.readexactly(int(length[1]))
        else:
            got = await self._chunks()
        assert answer.startswith(b"HTTP/1.1 20"), got
        return got

    async def _chunks(self) -> bytes:
        parts: list[bytes] = []
        while size := int(await self._reader.readline(), 16):
            parts.append(await self._reader.readexactly(size))
            await self._reader.readline()
        await self._reader.readline()
        return b"".join(parts)


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


Asking = Callable[[Client, int], Any]


def work(namespace: str) -> dict[str, tuple[Asking, float]]:
    """What is asked, in this order: how, for the number of a request, and by how much fewer requests than the others it needs."""
    maps, deployments = f"/api/v1/namespaces/{namespace}/configmaps", f"/apis/apps/v1/namespaces/{namespace}/deployments"
    manager = "fieldManager=bench&force=true"

    def image(number: int, version: int) -> dict[str, Any]:
        return {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": f"web:{version}-{number}"}]}}}}

    return {
        "create a ConfigMap": (lambda client, n: client.ask("POST", maps, config_map(f"c{n}")), 1),
        "get it": (lambda client, n: client.ask("GET", f"{maps}/c{n}"), 1),
        f"list {LISTED} of them": (lambda client, n: client.ask("GET", f"{maps}?limit={LISTED}"), 10),
        "merge patch": (lambda client, n: client.ask("PATCH", f"{maps}/c{n}", {"data": {"n": str(n)}}, MERGE), 1),
        "delete it": (lambda client, n: client.ask("DELETE", f"{maps}/c{n}"), 1),
        "create a Deployment": (lambda client, n: client.ask("POST", deployments, deployment(f"d{n}")), 1),
        "strategic merge patch": (lambda client, n: client.ask("PATCH", f"{deployments}/d{n}", image(n, 2), STRATEGIC), 1),
        "apply, new": (lambda client, n: client.ask("PATCH", f"{deployments}/a{n}?{manager}", deployment(f"a{n}"), APPLY), 1),
        "apply, unchanged": (lambda client, n: client.ask("PATCH", f"{deployments}/a{n}?{manager}", deployment(f"a{n}"), APPLY), 1),
        "apply, changed": (lambda client, n: client.ask("PATCH", f"{deployments}/a{n}?{manager}", deployment(f"a{n}", "web:2"), APPLY), 1),
    }


AT_A_TIME = 8


async def measured(plane: Plane, namespace: str, requests: int) -> dict[str, tuple[float, float]]:
    """One round: requests a second, and CPU seconds for each, by what is asked."""
    opened = [await asyncio.open_connection(plane.host, plane.port, ssl=plane.tls, limit=1 << 24) for _ in range(AT_A_TIME)]
    clients = [Client(plane, *each) for each in opened]
    await clients[0].ask("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    before = plane.cpu
    await asyncio.sleep(IDLE)
    idle = (plane.cpu - before) / IDLE
    found = {}
    for what, (asking, fewer) in work(namespace).items():
        count = max(AT_A_TIME, int(requests / fewer))

        async def some(client: Client, first: int, asking: Asking = asking, count: int = count) -> None:
            for number in range(first, count, AT_A_TIME):
                await asking(client, number)

        used, began = plane.cpu, time.perf_counter()
        await asyncio.gather(*(some(client, at) for at, client in enumerate(clients)))
        seconds = time.perf_counter() - began
        found[what] = count / seconds, max(0.0, plane.cpu - used - idle * seconds) / count
    for _, writer in opened:
        writer.transport.abort()
    return found


@contextmanager
def ours(folder: Path) -> Iterator[Plane]:
    """The embedded server, for as long as the context is open."""
    kubeconfig = folder / "kubeconfig"
    with subprocess.Popen(command_of(kubeconfig), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline().startswith("ready ")
        try:
            yield plane_of(kubeconfig, program.pid)
        finally:
            program.terminate()


def command_of(kubeconfig: Path) -> list[str]:
    """The program."""
    return [sys.executable, "-m", "setpoint", "server", "--no-controllers", "--write-kubeconfig", str(kubeconfig)]


@contextmanager
def theirs(folder: Path) -> Iterator[Plane]:
    """A real kube-apiserver without controllers, and its etcd."""
    script = str(ROOT / "tools" / "envtest" / "control-plane")
    said = subprocess.run([script, "start", "--dir", str(folder)], check=True, capture_output=True, text=True).stdout
    try:
        yield plane_of(Path(said.split()[-1]), *(int((folder / f"{name}.pid").read_text()) for name in ("kube-apiserver", "etcd")))
    finally:
        subprocess.run([script, "stop", "--dir", str(folder)], check=True, stdout=subprocess.DEVNULL)


async def beside(embedded: Plane, real: Plane, rounds: int, requests: int) -> None:
    """Prints the table."""
    await measured(embedded, "warm", AT_A_TIME)
    await measured(real, "warm", AT_A_TIME)
    taken = [[await measured(plane, f"round-{number}", requests) for plane in (embedded, real)] for number in range(rounds)]
    said = f"{requests} requests, {AT_A_TIME} at a time"
    print(f"| {said} | Setpoint, a second | kube-apiserver | Setpoint, CPU for one | kube-apiserver | ratio |")
    print("| --- | --- | --- | --- | --- | --- |")
    for what in taken[0][0]:
        rate, rate_there = (statistics.median(each[side][what][0] for each in taken) for side in (0, 1))
        cpu, cpu_there = (statistics.median(each[side][what][1] for each in taken) for side in (0, 1))
        print(f"| {what} | {rate:,.0f} | {rate_there:,.0f} | {cpu * 1e6:,.0f} µs | {cpu_there * 1e6:,.0f} µs | {cpu / cpu_there:.2f} |")


def start(folder: Path, runs: int) -> None:
    """Prints what a start costs, until the first answer. Byte code is compiled before, as an installation does."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "byte-code")

    def of(program: str) -> float:
        said = subprocess.run([sys.executable, "-c", program], env=environment, check=True, capture_output=True, text=True).stdout
        return float(said)

    figures: dict[str, Callable[[], float]] = {
        "`import asyncio`": lambda: of(YARDSTICK),
        "in process": lambda: of(IN_PROCESS),
        "as a program": lambda: program(folder, environment),
    }
    for measure in figures.values():
        measure()
    taken: dict[str, list[float]] = {what: [] for what in figures}
    for _ in range(runs):
        for what, measure in figures.items():
            taken[what].append(measure())
    least = {what: min(values) for what, values in taken.items()}
    for what, seconds in least.items():
        print(f"start to first answer, {what}: {seconds:.3f} s of CPU, {seconds / least['`import asyncio`']:.1f} times `import asyncio`")


def program(folder: Path, environment: dict[str, str]) -> float:
    """Seconds of processor time of `setpoint server` when the first answer is there, over HTTPS."""
    kubeconfig = folder / "started"
    with subprocess.Popen(command_of(kubeconfig), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment) as running:
        assert running.stdout is not None
        assert running.stdout.readline().startswith("ready ")
        plane = plane_of(kubeconfig, running.pid)
        opened = http.client.HTTPSConnection(plane.host, plane.port, context=plane.tls)
        opened.request("GET", "/api/v1/namespaces/default", headers={"Authorization": f"Bearer {plane.token}"})
        assert opened.getresponse().status == 200
        used = plane.cpu
        opened.close()
        running.terminate()
    return used


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--requests", type=int, default=500)
    parser.add_argument("--runs", type=int, default=8, help="starts to measure")
    parser.add_argument("--only-start", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        start(place, given.runs)
        if not given.only_start:
            with ours(place) as embedded, theirs(place / "plane") as real:
                asyncio.run(beside(embedded, real, given.rounds, given.requests))
