"""instaclustr/cassandra-operator#398: the claim of a member that was scaled away stays.

On a scale-down the operator deleted the volume claim of a pod when it saw that pod with a deletionTimestamp, that is, between the mark and
the removal. If both had happened before it looked, there was no pod to be seen any more, and the claim stayed for ever. The next scale-up
took it up again, with the data of a member that the ring had long forgotten.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, patch, wait

DATACENTRE = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "CassandraDataCenter",
    "metadata": {"name": "dc", "namespace": "default"},
    "spec": {"nodes": 2},
}

ROW = Row(
    name="A8",
    bug="instaclustr/cassandra-operator#398",
    workload=Workload.of(apply(DATACENTRE), wait(), patch(DATACENTRE, {"spec": {"nodes": 1}}), wait()),
    faults=("F8", "F9", "F1", "F2", "F5", "F7", "F13"),
    oracles=("O1", "O8", "O5"),
    edge=True,
    environment=("tests.levelcheck.corpus.rows.a08_claim_outlives_its_pod.kubelet:controller",),
)
