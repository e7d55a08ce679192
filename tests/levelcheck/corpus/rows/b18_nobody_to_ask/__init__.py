"""anvil-verifier/anvil#269 (found by Acto): an ensemble that was scaled to nothing never comes back.

Before the operator changed the number of members it told the running servers of it. At 0 members there is no server to be told, so the
call failed, and the operator retried it for ever, though it was about to start the first server.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, patch, wait

CLUSTER = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "ZookeeperCluster",
    "metadata": {"name": "zk", "namespace": "default"},
    "spec": {"replicas": 1},
}

ROW = Row(
    name="B18",
    bug="anvil-verifier/anvil#269",
    workload=Workload.of(
        apply(CLUSTER),
        wait(),
        patch(CLUSTER, {"spec": {"replicas": 0}}),
        wait(),
        patch(CLUSTER, {"spec": {"replicas": 1}}),
        wait(),
    ),
    faults=("F0",),
    oracles=("O2", "O12", "O10", "O11"),
)
