"""kubernetes/kubernetes#109748 (not reproduced upstream): what a dead owner left behind is examined only when its end is heard of.

The clean-up of dependents is queued by the deletion event of their owner. If the owner was deleted while nobody listened, its dependents
are there at the next start, in the initial list, and nobody asks whether their owner still is.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, delete, wait

TENANT = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "Tenant",
    "metadata": {"name": "acme", "namespace": "default"},
    "spec": {"quota": 3},
}

ROW = Row(
    name="A7",
    bug="kubernetes/kubernetes#109748",
    workload=Workload.of(apply(TENANT), wait(), delete(TENANT), wait()),
    faults=("F13", "F1"),
    oracles=("O8", "O1"),
    edge=True,
)
