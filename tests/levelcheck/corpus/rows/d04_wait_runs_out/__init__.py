"""kubernetes-sigs/cluster-api#13649: a set of machines that is slow to show in the cache is made twice.

After the controller had created a set, under a random name, it waited for the cache to show it, for a limited time. When that ran out the
reconcile ended with an error; the next one saw no set that matches the template either, and created another.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Assumptions
from setpoint.levelcheck.workload import Workload, apply, wait

DEPLOYMENT = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "MachineDeployment",
    "metadata": {"name": "md", "namespace": "default"},
    "spec": {"template": "small"},
}

ROW = Row(
    name="D4",
    bug="kubernetes-sigs/cluster-api#13649",
    workload=Workload.of(apply(DEPLOYMENT), wait()),
    faults=("F5",),
    oracles=("O9", "O1", "O5"),
    assumptions=Assumptions(own_writes="late"),
    roles={"machinesets.corpus.example.com": lambda machines: machines["spec"]["template"]},
)
