"""instaclustr/cassandra-operator#407: a pod that is long gone takes the claim of its successor along.

When a pod is scaled away, the operator deletes the claim with its ordinal. It looks claims up by the UID of the data centre, so that those
of an earlier data centre of that name are safe. But a pod that was scaled away and its successor of the same name belong to the same data
centre. An operator that restarts and lists pods from an API server that lags behind sees the old pod, marked for deletion, and deletes the
claim on which the new one lives.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Assumptions
from setpoint.levelcheck.workload import Workload, apply, patch, wait

DATACENTRE = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "CassandraDataCenter",
    "metadata": {"name": "dc", "namespace": "default"},
    "spec": {"nodes": 1},
}

ROW = Row(
    name="C6",
    bug="instaclustr/cassandra-operator#407",
    workload=Workload.of(
        apply(DATACENTRE),
        wait(),
        patch(DATACENTRE, {"spec": {"nodes": 0}}),
        wait(),
        patch(DATACENTRE, {"spec": {"nodes": 1}}),
        wait(),
    ),
    faults=("F6",),
    oracles=("O6", "O5", "O1"),
    assumptions=Assumptions(lists="old"),
)
