"""How long it takes from the start of `setpoint run --embedded` until another process reads a WebApp whose replicas are all ready.

    python -m benchmarks.start [RUNS]

Byte code is compiled before, as an installation does. Prints smallest, median and largest of each figure: `served` is the line `ready
KUBECONFIG`, `converged` the first GET that finds `readyReplicas` equal to `spec.replicas`, `CPU` the program's processor time by its end.
"""

from __future__ import annotations

import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.peers import ROOT, environment
from benchmarks.plane import Plane

EXAMPLE = ROOT / "examples" / "webapp"
WEBAPPS = "/apis/apps.example.com/v1/namespaces/default/webapps"


def main(runs: int) -> None:
    """Measures so many runs."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        measure(place)  # compiles
        taken = [measure(place) for _ in range(runs)]
    for name, seconds in zip(("served", "converged", "CPU"), zip(*taken, strict=True), strict=True):
        print(f"{name:10} {min(seconds):6.2f} s {statistics.median(seconds):6.2f} s {max(seconds):6.2f} s")


def measure(folder: Path) -> tuple[float, float, float]:
    """One run: seconds until it serves, seconds until the WebApp is ready, seconds of processor time."""
    kubeconfig = folder / "kubeconfig"
    command = [sys.executable, "-m", "setpoint", "run", "--embedded", str(EXAMPLE / "webapp.py")]
    command += ["--apply", str(EXAMPLE / "shop.yaml"), "--write-kubeconfig", str(kubeconfig)]
    used = cpu_of_children()
    started = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment(), cwd=folder) as program:
        assert program.stdout is not None
        assert program.stdout.readline().startswith("ready ")
        served = time.perf_counter() - started
        converged = next(time.perf_counter() - started for apps in states(kubeconfig) if is_ready(apps))
        program.terminate()
    return served, converged, cpu_of_children() - used


def cpu_of_children() -> float:
    """Seconds of processor time of the children that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def states(kubeconfig: Path) -> Iterator[list[Any]]:
    """The WebApps as GET finds them, once at first and again after each change; before their kind is there, again at once."""
    plane = Plane.of(kubeconfig)

    def ask(path: str) -> http.client.HTTPResponse:
        connection = plane.connection()
        connection.request("GET", path, headers=plane.headers)
        return connection.getresponse()

    definitions = ask("/apis/apiextensions.k8s.io/v1/customresourcedefinitions?watch=1")
    while (answer := ask(WEBAPPS)).status == 404:
        definitions.readline()
    watch = ask(f"{WEBAPPS}?watch=1")
    while True:
        yield json.loads(answer.read())["items"]
        watch.readline()
        answer = ask(WEBAPPS)


def is_ready(apps: list[Any]) -> bool:
    """Whether there is one, and every replica is ready."""
    return bool(apps) and all(app.get("status", {}).get("readyReplicas") == app["spec"]["replicas"] for app in apps)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
