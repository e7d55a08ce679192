"""ray-project/kuberay#715 (and ai-dynamo/grove#122, openkruise/kruise PR 455): more workers than were asked for.

The operator counted the pods in its cache, created as many as were missing, under random names, and kept no note of it. The next
reconcile came before the cache had heard of them, counted again, and created as many once more; a later one deleted some at random.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Assumptions
from setpoint.levelcheck.workload import Workload, apply, wait

CLUSTER = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "RayCluster",
    "metadata": {"name": "ray", "namespace": "default"},
    "spec": {"workers": 1},
}

ROW = Row(
    name="D1",
    bug="ray-project/kuberay#715",
    workload=Workload.of(apply(CLUSTER), wait()),
    faults=("F5",),
    oracles=("O9", "O6", "O5", "O1"),
    assumptions=Assumptions(own_writes="late"),
    roles={"pods": lambda pod: "worker"},
)
