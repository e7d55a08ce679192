"""operator-framework/java-operator-sdk#3398, PR 3484: somebody else's change is taken for the controller's own.

To spare runs for its own writes, the framework leaves out events of an object while one of its writes is under way, and then all events up
to the version that the write was answered with. A change of the spec by somebody else that lands just before the write, or beside a status
patch that changes nothing, has no higher version than that. It is left out too, and nobody acts on it until the object changes again.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, patch, wait

GAUGE = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "Gauge",
    "metadata": {"name": "g", "namespace": "default"},
    "spec": {"level": 1},
}

ROW = Row(
    name="A21",
    bug="operator-framework/java-operator-sdk#3398",
    workload=Workload.of(apply(GAUGE), wait(), patch(GAUGE, {"spec": {"level": 2}}), wait()),
    faults=("F19", "F21"),
    oracles=("O2", "O1", "O4"),
    edge=True,
)
