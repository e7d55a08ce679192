"""radanalyticsio/spark-operator#115: what is changed while the operator is down is lost.

The operator watched from the moment of its start on, and acted on what the watch told. What was there already it did not look at. A cluster
that somebody asked for during an update of the operator was never made.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, wait


def spark(name: str) -> dict[str, object]:
    return {
        "apiVersion": "corpus.example.com/v1",
        "kind": "SparkCluster",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"workers": 1},
    }


ROW = Row(
    name="A16",
    bug="radanalyticsio/spark-operator#115",
    workload=Workload.of(apply(spark("one")), wait(), apply(spark("two")), wait()),
    faults=("F13", "F1"),
    oracles=("O2", "O1"),
    edge=True,
)
