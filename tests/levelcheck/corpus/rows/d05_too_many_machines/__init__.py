"""k0sproject/k0smotron#1534 (and cluster-api#2176, PR 3759): one replica made six machines, five of them with real servers.

The controller listed its machines from its cache, and created those that were missing under random names. It ran again before the cache
had heard of them. For each machine a server was rented, and machines of a control plane are not taken away just because there are too many.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Assumptions, Waiver
from setpoint.levelcheck.workload import Workload, apply, wait

from .outside import Cloud

PLANE = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "ControlPlane",
    "metadata": {"name": "cp", "namespace": "default"},
    "spec": {"replicas": 1},
}

ROW = Row(
    name="D5",
    bug="k0sproject/k0smotron#1534",
    workload=Workload.of(apply(PLANE), wait()),
    faults=("F5",),
    oracles=("O9", "O8", "O1", "O5"),
    assumptions=Assumptions(own_writes="late"),
    outside={"cloud": Cloud},
    waivers=tuple(
        Waiver(reason="machines of a control plane are not taken away because there are too many", oracle="O12", resource=resource)
        for resource in ("machines.corpus.example.com", "outside")
    ),
    roles={"machines.corpus.example.com": lambda machine: "machine"},
)
