"""rabbitmq/cluster-operator#648: an old deletion is carried out on the successor of the same name.

While a cluster is deleted its finalizer has the operator delete the StatefulSet, by name. The user creates a cluster of that name again.
The operator restarts and lists from an API server that lags behind: it sees the old cluster, still being deleted, and deletes the
StatefulSet of the new one. Neither the UID of the StatefulSet nor that of its owner was compared.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Assumptions
from setpoint.levelcheck.workload import Workload, apply, recreate, wait

CLUSTER = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "RabbitmqCluster",
    "metadata": {"name": "mq", "namespace": "default"},
    "spec": {},
}

ROW = Row(
    name="C2",
    bug="rabbitmq/cluster-operator#648",
    workload=Workload.of(apply(CLUSTER), wait(), recreate(CLUSTER), wait()),
    faults=("F6", "F14"),
    oracles=("O5", "O6"),
    assumptions=Assumptions(lists="old"),
)
