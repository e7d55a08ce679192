"""The servers that everything runs on, each started when it is first asked for, and ended with the run.

The real kube-apiserver (`tools/envtest`), TLS and RBAC on; the embedded one, `setpoint server --no-controllers`; and one that only streams.
Many objects are put into the real one's etcd, a hundred at a time, as it would store them itself: by requests, 50,000 of them would take it
a quarter of an hour.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import yaml

from benchmarks import objects
from benchmarks.peers import ROOT, environment
from benchmarks.plane import JSON, Line, Plane, namespace
from benchmarks.streaming_server import streaming_server
from benchmarks.workload import Missing

CRD = ROOT / "benchmarks" / "controller_runtime" / "crd.yaml"
CONTROL_PLANE = ROOT / "tools" / "envtest" / "control-plane"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
AT_A_TIME = 16
MADE: dict[str, tuple[Callable[[int, str], dict[str, Any]], str]] = {
    "widgets": (objects.widget, "/registry/bench.setpoint.dev/widgets"),
    "pods": (objects.pod, "/registry/pods"),
    "children": (objects.child, "/registry/configmaps"),
}
"""How an object of a number is made, and where etcd has it."""


class Servers:
    """Use as a context manager. What it gives stays the same until its end."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._real: Plane | None = None
        self._embedded: Plane | None = None
        self._streaming: dict[int, Path] = {}
        self._programs: dict[str, Path] = {}
        self._filled: dict[str, None] = {}

    def __enter__(self) -> Servers:
        self.folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.close()

    @property
    def real(self) -> Plane:
        """kube-apiserver, with the kind of widgets. Raises `Missing` where there is none."""
        if self._real is None:
            self._real = self._stack.enter_context(real(self.folder / "real"))
            asyncio.run(define(self._real))
        return self._real

    @property
    def embedded(self) -> Plane:
        """Setpoint's own server, with the kind of widgets."""
        if self._embedded is None:
            self._embedded = self._stack.enter_context(embedded(self.folder / "embedded"))
            asyncio.run(define(self._embedded))
        return self._embedded

    def streaming(self, objects: int) -> Path:
        """The kubeconfig of a server that only streams so many widgets, all made up at its start."""
        if objects not in self._streaming:
            folder = self.folder / f"streaming-{objects}"
            folder.mkdir()
            self._streaming[objects] = self._stack.enter_context(streaming_server(folder, objects))
        return self._streaming[objects]

    def program(self, name: str, build: Callable[[Path], Path]) -> Path:
        """A program that is built once a run. Raises `Missing` as `build` does."""
        if name not in self._programs:
            self._programs[name] = build(self.folder)
        return self._programs[name]

    def filled(self, *kinds: str, count: int, own: str = "") -> str:
        """A namespace of the real server that holds so many of each kind of `MADE`; the same for all who ask for the same.

        `own` makes it somebody's own.
        """
        name = "-".join([*kinds, str(count), *([own] if own else [])])
        if name not in self._filled:
            plane = self.real
            asyncio.run(_empty_namespace(plane, name))
            for kind in kinds:
                make, where = MADE[kind]
                put(etcd_of(plane), ((f"{where}/{name}/{objects.name_of(at)}", make(at, name)) for at in range(count)))
            self._filled[name] = None
        return name

    def created(self, plane: Plane, name: str, count: int) -> str:
        """A namespace with so many widgets that somebody has created, by requests, without a status. It must be new."""
        asyncio.run(_create(plane, name, count))
        return name


@contextmanager
def real(folder: Path) -> Iterator[Plane]:
    """A real kube-apiserver without controllers, and its etcd."""
    assets = os.environ.get("KUBEBUILDER_ASSETS", "")
    if not assets or not (Path(assets) / "kube-apiserver").exists():
        raise Missing("no kube-apiserver: KUBEBUILDER_ASSETS=$(tools/envtest/build) makes and names one, where Go is")
    started = subprocess.run([CONTROL_PLANE, "start", "--dir", str(folder)], check=False, capture_output=True, text=True)
    if started.returncode:
        raise Missing(f"kube-apiserver does not start: {started.stderr.strip()}")
    try:
        yield Plane.of(
            Path(started.stdout.split()[-1]), *(int((folder / f"{name}.pid").read_text()) for name in ("kube-apiserver", "etcd"))
        )
    finally:
        subprocess.run([CONTROL_PLANE, "stop", "--dir", str(folder)], check=True, stdout=subprocess.DEVNULL)


@contextmanager
def embedded(folder: Path) -> Iterator[Plane]:
    """The embedded server in memory, without controllers."""
    folder.mkdir(parents=True, exist_ok=True)
    kubeconfig = folder / "kubeconfig"
    with subprocess.Popen(
        command_of(kubeconfig), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment()
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline().startswith("ready "), "the embedded server does not start"
        try:
            yield Plane.of(kubeconfig, program.pid)
        finally:
            program.terminate()


def command_of(kubeconfig: Path) -> list[str]:
    """The embedded server's program."""
    return [sys.executable, "-m", "setpoint", "server", "--no-controllers", "--write-kubeconfig", str(kubeconfig)]


async def define(plane: Plane) -> None:
    """The server serves widgets from now on."""
    line = await plane.open()
    await line.ask("POST", DEFINITIONS, yaml.safe_load(CRD.read_text()))
    path = f"{DEFINITIONS}/widgets.bench.setpoint.dev"
    while not _established(json.loads(await line.ask("GET", path))):  # noqa: ASYNC110 - an event of the server, not of this program
        await asyncio.sleep(0.05)
    line.close()


def _established(definition: dict[str, Any]) -> bool:
    conditions = definition.get("status", {}).get("conditions") or []
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)


def etcd_of(plane: Plane) -> str:
    """Where the etcd behind a real server listens; its command line says so."""
    for process in plane.processes:
        words = Path(f"/proc/{process}/cmdline").read_text().split("\0")
        if "--listen-client-urls" in words:
            return words[words.index("--listen-client-urls") + 1]
    raise LookupError("none of the server's processes is an etcd")


def put(etcd: str, values: Iterator[tuple[str, dict[str, Any]]]) -> None:
    """Puts objects into etcd, by its gateway for JSON."""
    batch: list[dict[str, Any]] = []

    def send() -> None:
        body = json.dumps({"success": batch}).encode()
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
            urllib.request.Request(f"{etcd}/v3/kv/txn", data=body)
        ) as answer:
            answer.read()
        batch.clear()

    for key, value in values:
        stored = json.dumps(value, separators=(",", ":")).encode()
        batch.append({"requestPut": {"key": b64encode(key.encode()).decode(), "value": b64encode(stored).decode()}})
        if len(batch) == 100:
            send()
    if batch:
        send()


async def _empty_namespace(plane: Plane, name: str) -> None:
    line = await plane.open()
    await namespace(line, name)
    line.close()


async def _create(plane: Plane, name: str, count: int) -> None:
    lines = [await plane.open() for _ in range(min(AT_A_TIME, count))]
    await namespace(lines[0], name)
    path = f"/apis/bench.setpoint.dev/v1/namespaces/{name}/widgets"

    async def some(line: Line, first: int) -> None:
        for number in range(first, count, len(lines)):
            await line.ask("POST", path, objects.widget(number, name, stored=False), JSON)

    await asyncio.gather(*(some(line, at) for at, line in enumerate(lines)))
    for line in lines:
        line.close()
