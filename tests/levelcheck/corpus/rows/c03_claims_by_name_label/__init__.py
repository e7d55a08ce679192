"""pravega/zookeeper-operator#312 (and casskop#316, cassandra-operator#402, datastax/cass-operator#412, K8SPSMDB-430, K8SPXC-716).

While a cluster is deleted its finalizer has the operator delete all claims that are labelled with the cluster's name. The user creates a
cluster of that name again. The operator restarts and lists from an API server that lags behind: it sees the old cluster, still being
deleted, and deletes the claims of the new one, which carry the same label.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Assumptions, Waiver
from setpoint.levelcheck.workload import Workload, apply, recreate, wait

CLUSTER = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "ZookeeperCluster",
    "metadata": {"name": "zk", "namespace": "default"},
    "spec": {"replicas": 1},
}

ROW = Row(
    name="C3",
    bug="pravega/zookeeper-operator#312",
    workload=Workload.of(apply(CLUSTER), wait(), recreate(CLUSTER), wait()),
    faults=("F6", "F14"),
    oracles=("O6", "O5", "O1"),
    assumptions=Assumptions(lists="old"),
    waivers=(Waiver(reason="claims of members that were scaled away are kept", oracle="O12", resource="persistentvolumeclaims"),),
)
