"""kubernetes/kubernetes#56261 (and #94437): pods are bound to a node that is gone, again and again.

The scheduler's cache of nodes was kept by handlers of additions and deletions, and compared with nothing. A deletion that was missed left a
ghost, which took part in every decision from then on: each bind to it failed, and the next try chose it again.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, delete, wait


def node(name: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"pool": "batch"}}}


TASK = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "Task",
    "metadata": {"name": "t", "namespace": "default"},
    "spec": {},
}

ROW = Row(
    name="A3",
    bug="kubernetes/kubernetes#56261",
    workload=Workload.of(apply(node("n1")), apply(node("n2")), wait(), delete(node("n1")), wait(), apply(TASK), wait()),
    faults=("F9", "F10", "F8"),
    oracles=("O2", "O1", "O11"),
    edge=True,
)
