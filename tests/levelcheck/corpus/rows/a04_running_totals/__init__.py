"""kubernetes/kubernetes#51313 (and #55587): what is used of a node is counted up and down by events.

Each pod that was added added to its node's total, each that was deleted took from it. A deletion that was lost was never taken back, and
since the total went by the node's name it even outlived the node: registered anew, the node was short of what its ghost used.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, delete, recreate, wait

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": {"pool": "batch"}}}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p1", "namespace": "default"},
    "spec": {"nodeName": "n1", "containers": [{"name": "main", "image": "work:1"}]},
}

ROW = Row(
    name="A4",
    bug="kubernetes/kubernetes#51313",
    workload=Workload.of(apply(NODE), apply(POD), wait(), delete(POD), wait(), recreate(NODE), wait()),
    faults=("F9", "F10", "F8"),
    oracles=("O1", "O12", "O2"),
    edge=True,
)
