"""operator-framework/java-operator-sdk PR 902: what was observed before is skipped at the start.

With generation-aware processing, the first event of an object after a start was left out where status.observedGeneration was the present
generation: nothing had been changed, so nothing was to be done. But a child may have been deleted or changed while the operator was down,
and it is not the primary's generation that tells of it.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, delete, wait

PAGE = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "WebPage",
    "metadata": {"name": "hello", "namespace": "default"},
    "spec": {"html": "<h1>Hello</h1>"},
}
CHILD = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "hello", "namespace": "default"}}

ROW = Row(
    name="A20",
    bug="operator-framework/java-operator-sdk#902",
    workload=Workload.of(apply(PAGE), wait(), delete(CHILD), wait()),
    faults=("F13", "F1", "F19"),
    oracles=("O1", "O2"),
    edge=True,
)
