"""kubernetes/kubernetes PR 89908 (fixes #89552): the cache of the scheduler assumes that pods go before their node.

Pods and nodes come by two streams. When the deletion of a node is heard of, its entry is dropped with all that it holds. If an update or
the deletion of one of its pods is heard of only after that, the handler looks for the entry that is not there any more, and raises.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, advance, apply, delete, wait

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": {"pool": "batch"}}}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p1", "namespace": "default"},
    "spec": {"nodeName": "n1", "containers": [{"name": "main", "image": "work:1"}]},
}

ROW = Row(
    name="A5",
    bug="kubernetes/kubernetes#89908",
    workload=Workload.of(apply(NODE), apply(POD), wait(), delete(POD), advance(1), delete(NODE), wait()),
    faults=("F7", "F5", "F8", "F9", "F19"),
    oracles=("O10", "O2"),
    edge=True,
)
