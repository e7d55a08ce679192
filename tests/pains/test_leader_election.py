"""Several replicas, of which one works: nobody else ever does, and soon somebody does again."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from tests.manager.test_leadership import (
    test_a_blocked_event_loop_does_not_keep_the_lease_from_being_renewed as blocked_within_the_lease,
)
from tests.manager.test_leadership import (
    test_an_async_reconciler_that_sleeps_beyond_the_lease_writes_nothing_after_it_was_lost as blocked_beyond_the_lease,
)

from setpoint import Context, Controller, ObjectMeta, Request, Result
from setpoint.k8s.core.v1 import ConfigMap
from setpoint.manager import LeaderElection, LeadershipLost, Options

from .planes import Embedded, Real
from .scenes import Gate, Hosted, Thing


class Replicas:
    """Replicas of one controller, which notes who runs and writes what it sees; a run takes as long as its gate is shut."""

    def __init__(self, cluster: Embedded | Real) -> None:
        self.cluster = cluster
        self.runs: list[str] = []
        self.gates: dict[str, Gate] = {}
        # A second is shorter on a real server: see `PACE`.
        self.times = {"lease_duration": 2, "renew_deadline": 1.0, "retry_period": 0.2} if cluster.real else {}

    def start(self, name: str, *, gate: Gate | None = None) -> Hosted:
        """One more replica."""
        self.gates[name] = gate or Gate()
        if gate is None:
            self.gates[name].open()
        election = LeaderElection(name="worker", namespace=self.cluster.namespace, identity=name, **self.times)
        options = Options(namespace=self.cluster.namespace, leader_election=election)
        return self.cluster.host(self.controller("worker", name), options=options, name=name)

    def controller(self, controller: str, name: str) -> Controller[Thing]:
        """The controller, as a replica runs it."""
        worker = Controller(Thing, name=controller)

        @worker.reconciler
        async def work(ctx: Context, request: Request) -> Result:
            self.runs.append(f"{name} begins {controller}")
            await self.gates[name].passed()
            await ctx.apply(ConfigMap(metadata=ObjectMeta(name=f"by-{name}", namespace=request.namespace)))
            self.runs.append(f"{name} ends {controller}")
            return Result(requeue_after=5.0 if not self.cluster.real else 0.1)

        return worker

    def leads(self, replica: Hosted) -> None:
        """Waits until it does."""
        self.cluster.until(lambda: replica.manager.is_leader, "the leadership")


@pytest.fixture
def replicas(cluster: Embedded | Real) -> Replicas:
    cluster.thing()
    return Replicas(cluster)


def _writes(replica: Hosted) -> list[str]:
    return [str(op) for op in replica.line.operations if op.is_write]


def test_a_standby_that_is_stopped_does_no_work_on_its_way_out(replicas: Replicas) -> None:
    """kubernetes-sigs/controller-runtime#2719, PR#2724, nginx/nginx-gateway-fabric#1738: a replica that does not lead is stopped; on its
    way down it starts the jobs of a leader once, and they write.
    """
    leader = replicas.start("a")
    replicas.leads(leader)
    standby = replicas.start("b")
    replicas.cluster.until(lambda: standby.line.asked("watch", plural="leases") and standby.line.asked("watch", plural="things"))
    replicas.cluster.advance(timedelta(seconds=5))
    replicas.cluster.end(standby)
    assert [run for run in replicas.runs if run.startswith("b")] == []
    assert _writes(standby) == []
    assert leader.manager.is_leader


def test_what_is_added_to_a_standby_waits_for_the_leadership_and_runs_once(replicas: Replicas) -> None:
    """kubernetes-sigs/controller-runtime#478: what was added after the start ran before the leadership, and then once more."""
    leader = replicas.start("a")
    replicas.leads(leader)
    standby = replicas.start("b")
    replicas.cluster.until(lambda: standby.line.asked("watch", plural="things"))
    replicas.cluster.within(lambda: standby.manager.add(replicas.controller("late", "b")))
    replicas.gates["b"] = Gate()
    replicas.cluster.advance(timedelta(seconds=10))
    assert [run for run in replicas.runs if run.startswith("b")] == []
    replicas.cluster.end(leader)
    replicas.cluster.until(lambda: "b begins late" in replicas.runs)
    assert replicas.runs.count("b begins late") == 1
    assert replicas.runs.index("b begins late") > replicas.runs.index("a ends worker")
    replicas.gates["b"].open()


def test_work_ends_before_the_lease_is_given_back(replicas: Replicas) -> None:
    """operator-framework/java-operator-sdk#2056, fabric8io/kubernetes-client#5463: with a release at the end, the last call skips the
    callback that stops the work: two leaders act.
    """
    gate = Gate()
    leader = replicas.start("a", gate=gate)
    replicas.cluster.until(lambda: gate.reached)
    standby = replicas.start("b")
    replicas.cluster.until(lambda: standby.line.asked("watch", plural="leases"))
    leader.manager.stop()
    replicas.cluster.advance(timedelta(seconds=5))
    assert not standby.manager.is_leader, "its run goes on"
    gate.open()
    replicas.cluster.until(leader.life.done)
    replicas.cluster.until(lambda: "b ends worker" in replicas.runs)
    mine = [number for number, run in enumerate(replicas.runs) if run.startswith("a")]
    others = [number for number, run in enumerate(replicas.runs) if run.startswith("b")]
    assert replicas.runs[mine[-1]] == "a ends worker"
    assert max(mine) < min(others)
    assert b'"holderIdentity":""' in [op for op in leader.line.operations if op.is_write][-1].body


def test_after_a_long_partition_of_all_replicas_exactly_one_leads(replicas: Replicas) -> None:
    """buehler/dotnet-operator-sdk#784: two pods are kept from the API for more than ten minutes by a NetworkPolicy. When it is lifted, both
    lead, or none does. A replica that has lost the leadership ends here, and is started anew, as by Kubernetes.
    """
    cluster = replicas.cluster
    running = {"a1": replicas.start("a1")}
    replicas.leads(running["a1"])
    running["b1"] = replicas.start("b1")
    cluster.until(lambda: running["b1"].line.asked("watch", plural="leases"))
    for replica in running.values():
        replica.line.vanish()
    cluster.until(running["a1"].life.done, "the end of who has lost the leadership")
    assert isinstance(running["a1"].life.exception(), LeadershipLost)
    del running["a1"]
    runs = len(replicas.runs)
    cluster.advance(timedelta(minutes=15) if not cluster.real else timedelta(seconds=40))
    assert len(replicas.runs) == runs
    running["a2"] = replicas.start("a2")
    running["a2"].line.vanish()
    cluster.advance(timedelta(seconds=20))
    for replica in running.values():
        replica.line.come_back()
    cluster.until(lambda: [run for run in replicas.runs[runs:] if "ends" in run], "work by somebody")
    for _ in range(20):
        assert [replica.manager.is_leader for replica in running.values()].count(True) == 1
        cluster.advance(timedelta(seconds=1))
    assert len({run.partition(" ")[0] for run in replicas.runs[runs:]}) == 1


@pytest.mark.parametrize("number", range(3))
def test_a_rollout_leaves_no_gap_without_a_leader(replicas: Replicas, number: int) -> None:
    """open-telemetry/opentelemetry-operator#3058, kubernetes-sigs/agent-sandbox#1249, operator-framework/operator-controller#1689: the
    lease is not given back at the end, so that nobody works for 15 seconds to 2 minutes with each rollout.
    """
    cluster = replicas.cluster
    leader = replicas.start("a")
    replicas.leads(leader)
    standby = replicas.start("b")
    cluster.until(lambda: standby.line.asked("watch", plural="leases") and standby.line.asked("watch", plural="things"))
    cluster.advance(timedelta(seconds=number * 0.7))
    began = cluster.now_in_seconds
    leader.manager.stop()
    cluster.until(lambda: "b begins worker" in replicas.runs)
    assert cluster.now_in_seconds - began < 2
    assert leader.life.done()
    assert leader.life.exception() is None


def test_a_process_that_stood_still_beyond_its_lease_writes_nothing_after_it(embedded: Embedded) -> None:
    """A reconciler that blocks, a machine that sleeps: the lease passes to another, the first one wakes up in the middle of a run, and
    writes.
    """
    embedded.thing()
    replicas, gate = Replicas(embedded), Gate()
    leader = replicas.start("a", gate=gate)
    embedded.until(lambda: gate.reached)
    standby = replicas.start("b")
    embedded.advance(timedelta(seconds=1))
    loop = embedded.simulated_loop
    loop.pause("a")
    gate.open()
    before = len(_writes(leader))
    embedded.advance(timedelta(seconds=20))
    assert standby.manager.is_leader
    loop.resume("a")
    embedded.until(leader.life.done)
    assert isinstance(leader.life.exception(), LeadershipLost)
    assert [write for write in _writes(leader)[before:] if "configmaps" in write] == []
    assert embedded.get(ConfigMap, "default/by-a") is None
    assert embedded.get(ConfigMap, "default/by-b") is not None


@pytest.mark.parametrize("scene", [blocked_within_the_lease, blocked_beyond_the_lease], ids=["within the lease", "beyond the lease"])
def test_a_reconciler_that_blocks_the_event_loop_neither_loses_the_lease_nor_writes_without_it(scene: object, tmp_path: Path) -> None:
    """`time.sleep(20)` in an async reconciler under a lease of 15 seconds, on the machine's own clock. The loop stands still, and with it
    all that would renew the lease from there.
    """
    assert callable(scene)
    scene(tmp_path)
