"""elastic/cloud-on-k8s#5274: a cluster that has grown is shrunk again by a restart.

The number of nodes is raised from 1 to 2. The operator restarts and lists from an API server that lags behind: it sees the 1, and scales
the StatefulSet down. The node is removed and its data moved, and all of it comes back when the operator has caught up.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Assumptions
from setpoint.levelcheck.workload import Workload, apply, patch, wait

CLUSTER = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "Elasticsearch",
    "metadata": {"name": "logs", "namespace": "default"},
    "spec": {"count": 1},
}

ROW = Row(
    name="C10",
    bug="elastic/cloud-on-k8s#5274",
    workload=Workload.of(apply(CLUSTER), wait(), patch(CLUSTER, {"spec": {"count": 2}}), wait()),
    faults=("F6",),
    oracles=("O6", "O5"),
    assumptions=Assumptions(lists="old"),
)
