"""sky-uk/cassandra-operator PR 170: the previous wish is kept in memory, and only what differs from it is applied.

The operator compared each new definition of a cluster with the one that it had seen before, and changed the StatefulSet where they
differed. After a restart there is no previous one: a StatefulSet that is there is left alone. So what was changed while the operator was
down, or whose change a crash had interrupted, was never applied; nor was drift in the StatefulSet itself ever put right.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, patch, wait

CLUSTER = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "Cassandra",
    "metadata": {"name": "ring", "namespace": "default"},
    "spec": {"replicas": 1},
}

ROW = Row(
    name="A17",
    bug="sky-uk/cassandra-operator#170",
    workload=Workload.of(apply(CLUSTER), wait(), patch(CLUSTER, {"spec": {"replicas": 2}}), wait()),
    faults=("F1", "F13", "F19"),
    oracles=("O1", "O2"),
    edge=True,
)
