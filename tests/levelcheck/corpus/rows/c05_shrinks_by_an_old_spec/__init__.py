"""pravega/zookeeper-operator#314: a member that has just come back loses its volume.

The ensemble is scaled down and up again. The operator restarts and lists from an API server that lags behind: it sees the smaller number,
takes the claim of the last member for a left-over, and deletes it, while that member runs on it.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Assumptions
from setpoint.levelcheck.workload import Workload, apply, patch, wait

CLUSTER = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "ZookeeperCluster",
    "metadata": {"name": "zk", "namespace": "default"},
    "spec": {"replicas": 2},
}

ROW = Row(
    name="C5",
    bug="pravega/zookeeper-operator#314",
    workload=Workload.of(
        apply(CLUSTER),
        wait(),
        patch(CLUSTER, {"spec": {"replicas": 1}}),
        wait(),
        patch(CLUSTER, {"spec": {"replicas": 2}}),
        wait(),
    ),
    faults=("F6",),
    oracles=("O6", "O5", "O1"),
    assumptions=Assumptions(lists="old"),
)
