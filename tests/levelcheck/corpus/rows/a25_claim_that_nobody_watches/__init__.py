"""cloudnative-pg/cloudnative-pg#5233: a claim is read, and its deletion triggers nothing.

The operator makes a claim and a pod for each instance, and watches the pods. A claim that somebody deletes is missed only when something
else has the operator look, so the instance hangs until then.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, wait

CLUSTER = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "Postgres",
    "metadata": {"name": "pg", "namespace": "default"},
    "spec": {},
}

ROW = Row(
    name="A25",
    bug="cloudnative-pg/cloudnative-pg#5233",
    workload=Workload.of(apply(CLUSTER), wait()),
    faults=("F19",),
    oracles=("O1", "O15", "O2", "O4"),
    edge=True,
)
