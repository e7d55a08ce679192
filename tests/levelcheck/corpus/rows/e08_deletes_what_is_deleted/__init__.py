"""datastax/cass-operator#417: a claim is deleted in each reconcile for as long as its pod lives.

The claim of a node that is to go was marked and deleted while the node's pod still used it. Such a claim stays, with a deletionTimestamp,
until the pod is gone. The operator did not look at that, and so marked and deleted it again in each reconcile. (What is marked is this
row's own: without it the repeated deletion would change nothing on the server.)
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, patch, wait

DATACENTRE = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "CassandraDatacenter",
    "metadata": {"name": "dc", "namespace": "default"},
    "spec": {"leaving": False},
}

ROW = Row(
    name="E8",
    bug="datastax/cass-operator#417",
    workload=Workload.of(apply(DATACENTRE), wait(), patch(DATACENTRE, {"spec": {"leaving": True}}), wait()),
    faults=("F0", "F11"),
    oracles=("O4", "O11", "O2", "O3", "O16"),
    environment=("tests.levelcheck.corpus.rows.e08_deletes_what_is_deleted.drain:controller",),
)
