"""DataStax K8SSAND-1023: a pod waits for ever for a secret that nobody makes any more.

The operator makes a keystore with the authority's key, and from it one for the nodes, which their pods mount. It made the second only on
the branch on which it had found the first one missing. It crashed between the two: the first was there from then on, the second was never
made, and no pod started. (What goes wrong is published; how it does inside is inferred.)
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, wait

DATACENTRE = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "CassandraDatacenter",
    "metadata": {"name": "dc", "namespace": "default"},
    "spec": {"nodes": 1},
}

ROW = Row(
    name="B8",
    bug="DataStax K8SSAND-1023",
    workload=Workload.of(apply(DATACENTRE), wait()),
    faults=("F1", "F2", "F3", "F19", "F18"),
    oracles=("O1", "O2"),
)
