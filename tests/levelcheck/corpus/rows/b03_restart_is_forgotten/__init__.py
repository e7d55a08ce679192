"""konpyutaika/nifikop#49 (was Orange-OpenSource/nifikop#130): a new configuration is written, and no pod is restarted for it.

Where the configuration differed from the one wanted, the operator wrote it, then noted in the status that the node was out of step, and
then restarted the pods of nodes that are out of step. When it crashed after the first of these, the configuration was equal at the next
run, so that nothing was ever noted, and the pods went on with the old one.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, patch, wait

CLUSTER = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "NifiCluster",
    "metadata": {"name": "flow", "namespace": "default"},
    "spec": {"config": "heap=1g"},
}

ROW = Row(
    name="B3",
    bug="konpyutaika/nifikop#49",
    workload=Workload.of(apply(CLUSTER), wait(), patch(CLUSTER, {"spec": {"config": "heap=2g"}}), wait()),
    faults=("F1", "F2", "F3", "F4", "F13", "F19"),
    oracles=("O5", "O1"),
)
