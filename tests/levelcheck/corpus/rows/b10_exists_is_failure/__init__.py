"""anvil-verifier/anvil PR 217: after a crash between two nodes the ensemble is never scaled again.

Before it changes the number of members the operator writes it into ZooKeeper itself: first a parent node, where there is none, and below it
a node for this cluster. It crashed between the two. After its start the node was missing, so it created the parent again, was told that it
exists, and took that for a failure, each time anew.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, patch, wait

from .outside import ZooKeeper

CLUSTER = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "ZookeeperCluster",
    "metadata": {"name": "zk", "namespace": "default"},
    "spec": {"replicas": 2},
}

ROW = Row(
    name="B10",
    bug="anvil-verifier/anvil#217",
    workload=Workload.of(apply(CLUSTER), wait(), patch(CLUSTER, {"spec": {"replicas": 1}}), wait()),
    faults=("F1", "F2", "F3", "F20"),
    oracles=("O2", "O1", "O10"),
    outside={"zookeeper": ZooKeeper},
)
