"""elastic/cloud-on-k8s#5249: the credentials of a running cluster are deleted, because it was once not there.

Some secrets have no owner reference but a label that names their cluster, and are deleted where there is no such cluster. A cluster is
deleted and created again. The operator restarts and lists from an API server that lags behind: it sees no cluster, and deletes the secrets
of the one that runs.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Assumptions
from setpoint.levelcheck.workload import Workload, apply, delete, wait

CLUSTER = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "Elasticsearch",
    "metadata": {"name": "logs", "namespace": "default"},
    "spec": {"user": "elastic"},
}

ROW = Row(
    name="C9",
    bug="elastic/cloud-on-k8s#5249",
    workload=Workload.of(apply(CLUSTER), wait(), delete(CLUSTER), wait(), apply(CLUSTER), wait()),
    faults=("F6", "F16", "F7", "F5"),
    oracles=("O6", "O5"),
    assumptions=Assumptions(lists="old"),
)
