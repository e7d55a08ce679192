"""rabbitmq/cluster-operator#758: how many replicas there are depends on which wishes were seen.

Shrinking is refused: the operator compares the wanted replicas with those of the StatefulSet, and does nothing where fewer are wanted. From
1 to 3 and then to 2: seen one by one, the second step is refused and three remain. If the 3 was overwritten before the operator looked,
it goes from 1 to 2, and two remain. The end depends on the way there, and not on what is wanted.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, patch, wait

CLUSTER = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "RabbitmqCluster",
    "metadata": {"name": "rabbit", "namespace": "default"},
    "spec": {"replicas": 1},
}

ROW = Row(
    name="A9",
    bug="rabbitmq/cluster-operator#758",
    workload=Workload.of(
        apply(CLUSTER),
        wait(),
        patch(CLUSTER, {"spec": {"replicas": 3}}),
        wait(),
        patch(CLUSTER, {"spec": {"replicas": 2}}),
        wait(),
    ),
    faults=("F8", "F0", "F13"),
    oracles=("O12", "O1"),
    edge=True,
    verdict="PATH-DEPENDENT",
)
