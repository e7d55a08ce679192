"""An election on a real kube-apiserver: real processes that are ended, killed and stopped, and a candidate of client-go beside ours."""

from __future__ import annotations

import shutil
import signal
import subprocess
import time
from datetime import datetime
from pathlib import Path

import pytest

from .programs import ROOT, Api, Json, Program, Watch, setpoint

pytestmark = pytest.mark.envtest

CONTROLLER = """
import os
from setpoint import Controller, ObjectMeta, Result
from setpoint.k8s.core.v1 import ConfigMap

controller = Controller(ConfigMap, name="beat", labels="beat=of")
count = 0

@controller.reconciler
async def beat(ctx, request):
    global count
    if count == 0:
        print("works", flush=True)
    count += 1
    metadata = ObjectMeta(name="beaten", namespace=request.namespace)
    await ctx.apply(ConfigMap(metadata=metadata, data={"by": str(os.getpid()), "count": str(count)}))
    return Result(requeue_after=0.05)
"""
NAME = "beat.example.com"
LEASE_SECONDS = 15
NO_ENDPOINTS = ("--metrics-bind-address", "0", "--health-probe-bind-address", "0")


class Stage:
    """A namespace of its own, with one object to work on."""

    def __init__(self, api: Api, kubeconfig: Path, namespace: str, folder: Path) -> None:
        self.api, self.kubeconfig, self.namespace, self.folder = api, kubeconfig, namespace, folder
        (folder / "beat.py").write_text(CONTROLLER)
        api.ask("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        self.config_maps = f"/api/v1/namespaces/{namespace}/configmaps"
        self.leases = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
        api.ask("POST", self.config_maps, {"metadata": {"name": "one", "labels": {"beat": "of"}}})

    def replica(self) -> Program:
        elect = ("--leader-elect", "--leader-election-id", NAME, "--leader-election-namespace", self.namespace)
        return setpoint("run", "beat.py", "--kubeconfig", self.kubeconfig, "-n", self.namespace, *elect, *NO_ENDPOINTS, cwd=self.folder)

    def peer(self, program: Path) -> Program:
        return Program(self.kubeconfig, self.namespace, NAME, "written-in-go", executable=program)

    def watching(self, collection: str):
        return self.api.watching(collection, self.api.get(collection)["metadata"]["resourceVersion"])


@pytest.fixture
def stage(control_plane: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Stage:
    words = request.node.name.removeprefix("test_").replace("_", "-")
    return Stage(Api(control_plane), control_plane, words[:63].rstrip("-"), tmp_path)


@pytest.fixture(scope="session")
def client_go() -> Path:
    """The candidate that is written with client-go."""
    if shutil.which("go") is None:
        pytest.skip("there is no Go to build a candidate of client-go with")
    built = subprocess.run([ROOT / "tools" / "client-go-elector" / "build"], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return Path(built.stdout.strip())


def leases_until(watch: Watch, wanted: str | None) -> list[Json]:
    """What the Lease says at each version, until a holder has (not) that name."""
    seen: list[Json] = []
    deadline = time.monotonic() + 60
    while not seen or (seen[-1].get("holderIdentity") or "") != (wanted or ""):
        event = watch.next(deadline)
        assert event is not None, seen
        seen.append(event["object"]["spec"])
        if wanted is None and seen[-1].get("holderIdentity"):
            seen.pop()
    return seen


def next_holder(watch: Watch, besides: str) -> Json:
    """What the Lease says once somebody else holds it."""
    deadline = time.monotonic() + 60
    while True:
        event = watch.next(deadline)
        assert event is not None, "nobody else has come to hold it"
        spec: Json = event["object"]["spec"]
        if spec.get("holderIdentity") not in (None, "", besides):
            return spec


def seconds_between(earlier: str, later: str) -> float:
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()


def holder(stage: Stage) -> str:
    return str(stage.api.get(f"{stage.leases}/{NAME}")["spec"]["holderIdentity"])


def test_a_leader_that_is_told_to_end_hands_over_within_two_seconds(stage: Stage) -> None:
    with stage.replica() as first:
        first.line("works")
        one = holder(stage)
        with stage.replica() as second, stage.watching(stage.leases) as watch:
            second.line("standing by", of="err")
            first.signal(signal.SIGTERM)
            released = leases_until(watch, None)[-1]
            taken = next_holder(watch, one)
            assert seconds_between(released["renewTime"], taken["acquireTime"]) < 2
            assert (released["leaseDurationSeconds"], taken["leaseTransitions"]) == (1, 1)
            assert first.end() == 0, first.err
            second.line("works")
            second.signal(signal.SIGTERM)
            assert second.end() == 0, second.err
    assert stage.api.warnings == []


def test_a_leader_that_is_killed_is_followed_once_its_lease_has_run_out(stage: Stage) -> None:
    with stage.replica() as first:
        first.line("works")
        one = holder(stage)
        with stage.replica() as second, stage.watching(stage.leases) as watch:
            second.line("standing by", of="err")
            first.kill()
            last = stage.api.get(f"{stage.leases}/{NAME}")["spec"]
            taken = next_holder(watch, one)
            assert LEASE_SECONDS - 0.5 <= seconds_between(last["renewTime"], taken["acquireTime"]) <= LEASE_SECONDS + 5
            second.line("works")


def test_a_leader_that_is_stopped_beyond_the_lease_and_goes_on_writes_nothing(stage: Stage) -> None:
    with stage.replica() as first:
        first.line("works")
        with stage.replica() as second, stage.watching(stage.config_maps) as watch:
            second.line("standing by", of="err")
            first.signal(signal.SIGSTOP)
            second.line("works")
            first.signal(signal.SIGCONT)
            assert first.end() == 1
            assert "leadership by the lease" in first.err[-1]
            second.signal(signal.SIGTERM)
            assert second.end() == 0, second.err
            stage.api.merge(f"{stage.config_maps}/one", {"data": {"all": "said"}})
            writers = writers_until(watch, "one")
    of_first, of_second = str(first.process.pid), str(second.process.pid)
    assert of_second in writers
    assert of_first not in writers[writers.index(of_second) :]


def test_a_standby_that_is_told_to_end_has_done_nothing(stage: Stage) -> None:
    """The symptom of kubernetes-sigs/controller-runtime#2719: on the way down, leader-only work is started once."""
    with stage.replica() as first:
        first.line("works")
        with stage.replica() as second, stage.watching(stage.config_maps) as watch:
            second.line("standing by", of="err")
            second.signal(signal.SIGTERM)
            assert second.end() == 0, second.err
            assert second.out == []
            first.signal(signal.SIGTERM)
            assert first.end() == 0, first.err
            stage.api.merge(f"{stage.config_maps}/one", {"data": {"all": "said"}})
            assert str(second.process.pid) not in writers_until(watch, "one")


def writers_until(watch: Watch, name: str) -> list[str]:
    """Who wrote, write by write, until that object changes."""
    writers: list[str] = []
    deadline = time.monotonic() + 60
    while True:
        event = watch.next(deadline)
        assert event is not None
        if event["object"]["metadata"]["name"] == name:
            return writers
        if by := event["object"].get("data", {}).get("by"):
            writers.append(by)


def test_a_candidate_of_client_go_hands_over_to_ours(stage: Stage, client_go: Path) -> None:
    with stage.peer(client_go) as peer:
        peer.line("leading")
        with stage.replica() as ours, stage.watching(stage.leases) as watch:
            ours.line("held by written-in-go", of="err")
            peer.signal(signal.SIGTERM)
            released = leases_until(watch, None)[-1]
            taken = next_holder(watch, "written-in-go")
            assert seconds_between(released["renewTime"], taken["acquireTime"]) < 2
            ours.line("works")
            assert peer.end() == 0, peer.err


def test_ours_hands_over_to_a_candidate_of_client_go(stage: Stage, client_go: Path) -> None:
    """It looks every two to four seconds, and does not watch."""
    with stage.replica() as ours:
        ours.line("works")
        with stage.peer(client_go) as peer, stage.watching(stage.leases) as watch:
            peer.line(f"leader {holder(stage)}")
            ours.signal(signal.SIGTERM)
            released = leases_until(watch, None)[-1]
            peer.line("leading")
            taken = stage.api.get(f"{stage.leases}/{NAME}")["spec"]
            assert seconds_between(released["renewTime"], taken["acquireTime"]) < 6
            assert taken["leaseTransitions"] == released["leaseTransitions"] + 1
            assert ours.end() == 0, ours.err


def test_a_candidate_of_client_go_respects_ours_while_it_renews(stage: Stage, client_go: Path) -> None:
    with stage.replica() as ours:
        ours.line("works")
        mine = holder(stage)
        with stage.peer(client_go) as peer, stage.watching(stage.leases) as watch:
            peer.line(f"leader {mine}")
            deadline = time.monotonic() + 60
            renewals = [event["object"]["spec"] for event in (watch.next(deadline) for _ in range(10)) if event]
            assert [spec["holderIdentity"] for spec in renewals] == [mine] * 10  # which is longer than the lease
            assert "leading" not in peer.out
