"""kubernetes/kubernetes#23731 (and openshift/origin#7845): two leaders act at the same time.

The leader renews its lease every few seconds. When that failed it tried again, and again, and never gave up leading. Another process took
the lease over once it had run out, and from then on there were two that acted.

The other candidate belongs to the environment. What leaders do here is to keep their name in a ConfigMap; two of them take turns for ever.
Which of the two leads in the end is chance.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Periodic, Waiver
from setpoint.levelcheck.workload import Workload, advance, apply, wait

LEASE = {
    "apiVersion": "coordination.k8s.io/v1",
    "kind": "Lease",
    "metadata": {"name": "boss", "namespace": "default"},
    "spec": {"leaseDurationSeconds": 15},
}
CHANCE = "which of the candidates leads after a failure is chance"

ROW = Row(
    name="F-1",
    bug="kubernetes/kubernetes#23731",
    workload=Workload.of(apply(LEASE), advance(60), wait()),
    faults=("F2", "F3", "F4", "F15", "F17", "F19"),
    oracles=("O2", "O11", "O3"),
    environment=("tests.levelcheck.corpus.rows.f01_renews_for_ever.rival:app",),
    waivers=(
        Waiver(reason=CHANCE, oracle="O1", resource="leases.coordination.k8s.io"),
        Waiver(reason=CHANCE, oracle="O1", resource="configmaps", name="work"),
    ),
    periodic=(Periodic(resource="leases.coordination.k8s.io", field=".spec.renewTime", reason="a lease is renewed for ever"),),
)
