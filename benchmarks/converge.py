"""How long a thousand WebApps take on the embedded control plane until each is Ready; with the program's CPU and memory.

    python -m benchmarks.converge [WEBAPPS] [--profile FILE]

The program is `setpoint run --embedded` in a process of its own; this one is the user who creates WebApps over HTTPS, twenty at a time,
and watches them. Each has one replica: a Deployment, a ReplicaSet, a Pod and a Service. With `--profile`, cProfile's figures of the
program's two threads go to FILE.controllers and FILE.server.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from benchmarks.peers import ROOT
from benchmarks.plane import Plane, cpu_of, peak_of

EXAMPLE = ROOT / "examples" / "webapp"
WEBAPPS = "/apis/apps.example.com/v1/namespaces/default/webapps"
AT_A_TIME = 20
COUNTED = ("/apis/apps/v1/deployments", "/apis/apps/v1/replicasets", "/api/v1/pods", "/api/v1/services")


class Api:
    """A server, over a number of kept connections."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._free: SimpleQueue[http.client.HTTPSConnection] = SimpleQueue()

    def send(self, method: str, path: str, body: Any = None, *, on: http.client.HTTPSConnection | None = None) -> http.client.HTTPResponse:
        """One request; the answer is to be read before the connection is used again."""
        connection = on or self._plane.connection()
        connection.request(method, path, None if body is None else json.dumps(body), self._plane.headers)
        return connection.getresponse()

    def create(self, name: str) -> None:
        """Creates a WebApp."""
        connection = self._free.get() if not self._free.empty() else self._plane.connection()
        body = {
            "apiVersion": "apps.example.com/v1",
            "kind": "WebApp",
            "metadata": {"name": name},
            "spec": {"image": "nginx:1.29", "replicas": 1},
        }
        with self.send("POST", WEBAPPS, body, on=connection) as answer:
            assert answer.status == 201, answer.read()
            answer.read()
        self._free.put(connection)


def main(count: int, profile: str | None) -> None:
    """Runs it once, and prints the figures."""
    with tempfile.TemporaryDirectory() as folder:
        kubeconfig = Path(folder, "kubeconfig")
        program = [sys.executable, str(ROOT / "benchmarks" / "profiled.py"), profile] if profile else [sys.executable, "-m", "setpoint"]
        command = [*program, "run", "--embedded", str(EXAMPLE / "webapp.py"), "--write-kubeconfig", str(kubeconfig)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=folder) as running:
            assert running.stdout is not None
            assert running.stdout.readline().startswith("ready ")
            api = Api(Plane.of(kubeconfig))
            watch = watched(api)
            begun_cpu, started = cpu_of(running.pid), time.perf_counter()
            with ThreadPoolExecutor(AT_A_TIME) as users:
                list(users.map(api.create, [f"app-{number:05}" for number in range(count)]))
            created = time.perf_counter() - started
            ready: dict[str, bool] = {}
            while sum(ready.values()) < count:
                app = json.loads(watch.readline())["object"]
                ready[app["metadata"]["name"]] = app.get("status", {}).get("readyReplicas") == app["spec"]["replicas"]
            converged = time.perf_counter() - started
            cpu, peak = cpu_of(running.pid) - begun_cpu, peak_of(running.pid)
            objects = {path.rpartition("/")[2]: len(json.loads(api.send("GET", path).read())["items"]) for path in COUNTED}
            running.terminate()
        print(f"{count} WebApps: all created after {created:.1f} s, all ready after {converged:.1f} s")
        print(f"CPU {cpu:.1f} s ({1000 * cpu / count:.1f} ms each), peak memory {peak:.0f} MB")
        print(", ".join(f"{number} {name}" for name, number in objects.items()))


def watched(api: Api) -> http.client.HTTPResponse:
    """A watch of the WebApps, as soon as their kind is there."""
    definitions = api.send("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?watch=1")
    while (answer := api.send("GET", f"{WEBAPPS}?watch=1")).status == 404:
        definitions.readline()
    return answer


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int, nargs="?", default=1000)
    parser.add_argument("--profile", metavar="FILE")
    arguments = parser.parse_args()
    main(arguments.count, arguments.profile and os.path.abspath(arguments.profile))
