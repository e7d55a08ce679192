"""kubernetes-sigs/cluster-api#8172: an object that is deleted early leaves its machine behind.

The finalizer was not there when the object was created, nor when its machine was made in the cloud, but was added in a reconcile after
that. The object was deleted in between, was gone at once, and nobody knew of the machine.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, delete, wait

from .outside import Cloud

MACHINE = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "CloudMachine",
    "metadata": {"name": "m1", "namespace": "default"},
    "spec": {"size": "small"},
}

ROW = Row(
    name="E4",
    bug="kubernetes-sigs/cluster-api#8172",
    workload=Workload.of(apply(MACHINE), wait(), delete(MACHINE), wait()),
    faults=("F18", "F13", "F19", "F1", "F14"),
    oracles=("O8", "O1"),
    outside={"cloud": Cloud},
    decisions=2,
)
