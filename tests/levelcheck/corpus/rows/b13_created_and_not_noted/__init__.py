"""crossplane/crossplane#3037 (and provider-upjet-aws#1482, #1893): what was created outside is not noted down, and created again.

The cloud chooses the identifier of what it creates. The provider created the resource and then saved the identifier. When it stopped in
between, nothing in the cluster told of the resource: it leaked, and the next reconcile created a second one.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, delete, wait

from .outside import Cloud

DATABASE = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "Database",
    "metadata": {"name": "orders", "namespace": "default"},
    "spec": {"engine": "postgres"},
}

ROW = Row(
    name="B13",
    bug="crossplane/crossplane#3037",
    workload=Workload.of(apply(DATABASE), wait(), delete(DATABASE), wait()),
    faults=("F1", "F2", "F3", "F4", "F18", "F19", "F20"),
    oracles=("O8", "O2", "O1"),
    outside={"cloud": Cloud},
)
