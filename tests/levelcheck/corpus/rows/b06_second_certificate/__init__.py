"""Percona K8SPSMDB-579 (and K8SPXC-897): of two certificates only the first is ever made.

The operator has cert-manager make two certificates, one for clients and one for the members among themselves. It made both where it found
the first one missing. It crashed between the two: the first was there from then on, and the second was never made. (What goes wrong is
published; how it does inside is inferred.)
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, wait

DATABASE = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "MongoCluster",
    "metadata": {"name": "docs", "namespace": "default"},
    "spec": {"domain": "docs.example.com"},
}

ROW = Row(
    name="B6",
    bug="Percona K8SPSMDB-579",
    workload=Workload.of(apply(DATABASE), wait()),
    faults=("F1", "F2", "F3", "F19", "F18"),
    oracles=("O1",),
)
