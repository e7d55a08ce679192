"""operator-framework/operator-sdk PR 3039 (and the review of GreedyKomodoDragon/Kontroler PR 158): waiting for what is filtered out.

The watch passes changes of the generation alone. The first run adds a finalizer and returns: the update will trigger the next run, which
does the work. But a change of metadata does not change the generation, so that run never comes. For the same reason a finalizer that
somebody has taken away is never put back.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, wait

WIDGET = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "Widget",
    "metadata": {"name": "w", "namespace": "default"},
    "spec": {"colour": "blue"},
}

ROW = Row(
    name="A24",
    bug="operator-framework/operator-sdk#3039",
    workload=Workload.of(apply(WIDGET), wait()),
    faults=("F0", "F11", "F19", "F1", "F3"),
    oracles=("O2", "O4", "O1", "O3"),
    edge=True,
)
