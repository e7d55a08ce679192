"""Two real programs against one server: one works, the other takes over at once when the first is told to end."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .programs import Api, Program, setpoint

CONTROLLER = """
from setpoint import Controller
from setpoint.k8s.core.v1 import ConfigMap

controller = Controller(ConfigMap, name="marker")

@controller.reconciler
async def mark(ctx, request):
    print("marked", request, flush=True)
"""
LEASE = "/apis/coordination.k8s.io/v1/namespaces/default/leases/marker.example.com"
ARGUMENTS = ("--leader-elect", "--leader-election-id", "marker.example.com", "--metrics-bind-address=0", "--health-probe-bind-address=0")


@contextmanager
def a_server(folder: Path) -> Iterator[Api]:
    kubeconfig = folder / "kubeconfig"
    (folder / "marker.py").write_text(CONTROLLER)
    with setpoint("server", "--write-kubeconfig", kubeconfig, cwd=folder) as server:
        server.line("ready ")
        api = Api(kubeconfig)
        api.ask("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "one"}})
        yield api


def a_replica(folder: Path) -> Program:
    return setpoint("run", "marker.py", *ARGUMENTS, cwd=folder, env={"KUBECONFIG": str(folder / "kubeconfig")})


def test_a_replica_that_is_told_to_end_hands_over_at_once(tmp_path: Path) -> None:
    with a_server(tmp_path) as api, a_replica(tmp_path) as first:
        first.line("marked default/one")
        with a_replica(tmp_path) as second:
            second.line("standing by", of="err")
            first.signal(signal.SIGTERM)
            assert first.end() == 0, first.err
            ended = time.monotonic()
            second.line("marked default/one")
            assert time.monotonic() - ended < 10  # on a slow machine; the lease would have lasted for 15 s
            spec = api.get(LEASE)["spec"]
            assert spec["leaseTransitions"] == 1
            second.signal(signal.SIGTERM)
            assert second.end() == 0, second.err
            assert not api.get(LEASE)["spec"].get("holderIdentity")


def test_a_replica_that_loses_its_lease_ends_with_an_error(tmp_path: Path) -> None:
    with a_server(tmp_path) as api, a_replica(tmp_path) as replica:
        replica.line("marked default/one")
        api.merge(LEASE, {"spec": {"holderIdentity": "somebody-else"}})
        assert replica.end() == 1
        assert "the leadership by the lease default/marker.example.com is lost: somebody-else holds it now" in replica.err[-1]
        assert "Traceback" not in "\n".join(replica.err)
