"""zalando/postgres-operator#1447 (and #1397, #2909): the database is restarted at each look.

The operator compared the StatefulSet that it wants with the one that is there. The server had filled in defaults, which the wanted one does
not state, so the two differed always. It wrote the wanted one again, which changed nothing, and restarted the pods for the sake of it.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, wait

CLUSTER = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "PostgresCluster",
    "metadata": {"name": "pg", "namespace": "default"},
    "spec": {"image": "postgres:18"},
}

ROW = Row(
    name="G3",
    bug="zalando/postgres-operator#1447",
    workload=Workload.of(apply(CLUSTER), wait()),
    faults=("F0",),
    oracles=("O4", "O5", "O11", "O2", "O3"),
)
