"""konpyutaika/nifikop#79: a node whose second status write was missed is never scaled away.

After it had created a node's pod the operator wrote two fields of the node's status, one update each, both only on the branch on which the
pod was missing. It crashed between the two (a window of less than a millisecond). The pod was there from then on, so the second field
stayed empty, and the later scale-down, which goes by that field, skipped the node.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, patch, wait

CLUSTER = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "NifiCluster",
    "metadata": {"name": "flow", "namespace": "default"},
    "spec": {"nodes": 1},
}

ROW = Row(
    name="B4",
    bug="konpyutaika/nifikop#79",
    workload=Workload.of(apply(CLUSTER), wait(), patch(CLUSTER, {"spec": {"nodes": 0}}), wait()),
    faults=("F1", "F2", "F3", "F4", "F19"),
    oracles=("O1", "O2", "O5"),
)
