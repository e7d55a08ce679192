"""yugabyte/yugabyte-operator#39: one tablet server fewer, if the step up was not seen.

The number of tablet servers may be raised above the replication factor and is not lowered again by the operator: it keeps the larger of
what is wanted and what there is. Three, four, three: seen one by one, four servers remain. If the four was overwritten before the operator
looked, three remain.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, patch, wait

CLUSTER = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "YBCluster",
    "metadata": {"name": "yb", "namespace": "default"},
    "spec": {"replicas": 3},
}

ROW = Row(
    name="A10",
    bug="yugabyte/yugabyte-operator#39",
    workload=Workload.of(
        apply(CLUSTER),
        wait(),
        patch(CLUSTER, {"spec": {"replicas": 4}}),
        wait(),
        patch(CLUSTER, {"spec": {"replicas": 3}}),
        wait(),
    ),
    faults=("F8", "F0", "F13"),
    oracles=("O12", "O1"),
    edge=True,
    verdict="PATH-DEPENDENT",
)
