"""Percona K8SPXC-918 (and K8SPSMDB-585, pravega/zookeeper-operator#453): claims tell of members that once were.

The cluster grows and shrinks again. Each member has a claim by its number, which stays when the member goes. So the last set of claims
depends on whether the larger size was acted on or overwritten before anybody looked, and not on the size that is wanted.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, patch, wait

CLUSTER = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "PerconaCluster",
    "metadata": {"name": "pxc", "namespace": "default"},
    "spec": {"size": 1},
}

ROW = Row(
    name="A11",
    bug="Percona K8SPXC-918",
    workload=Workload.of(
        apply(CLUSTER), wait(), patch(CLUSTER, {"spec": {"size": 2}}), wait(), patch(CLUSTER, {"spec": {"size": 1}}), wait()
    ),
    faults=("F8", "F0", "F13"),
    oracles=("O12", "O1"),
    edge=True,
    verdict="PATH-DEPENDENT",
)
