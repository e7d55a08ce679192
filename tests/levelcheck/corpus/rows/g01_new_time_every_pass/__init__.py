"""strimzi/strimzi-kafka-operator#13079 (and openclaw-operator PR 163, keycloak-operator PR 122, kubevirt/ssp-operator PR 59): a hot loop.

Each reconcile wrote a new time into the status, though nothing else had changed. The write was a change of the object, and so asked for
the next reconcile.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, wait

TOPIC = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "Topic",
    "metadata": {"name": "orders", "namespace": "default"},
    "spec": {"partitions": 3},
}

ROW = Row(
    name="G1",
    bug="strimzi/strimzi-kafka-operator#13079",
    workload=Workload.of(apply(TOPIC), wait()),
    faults=("F0",),
    oracles=("O4", "O11", "O2", "O3"),
)
