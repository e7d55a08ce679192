"""Percona K8SPXC-979: a deletion that was interrupted leaves the data, and the next cluster of that name takes it over.

While a cluster is deleted its finalizer has the operator delete the StatefulSet and the claim with the data. It did both only where it
still found the StatefulSet. It crashed right after deleting that, found none after its start, and let the cluster go. The claim stayed, and
a cluster that was then created under the same name started on the old data. (What goes wrong is published; how it does inside is inferred.)
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, delete, wait

CLUSTER = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "XtraDBCluster",
    "metadata": {"name": "sales", "namespace": "default"},
    "spec": {"storage": "1Gi"},
}
AGAIN = CLUSTER | {"spec": {"storage": "2Gi"}}

ROW = Row(
    name="B7",
    bug="Percona K8SPXC-979",
    workload=Workload.of(apply(CLUSTER), wait(), delete(CLUSTER), wait(), apply(AGAIN), wait()),
    faults=("F1", "F2", "F3", "F14", "F18", "F19"),
    oracles=("O1", "O5", "O8"),
)
