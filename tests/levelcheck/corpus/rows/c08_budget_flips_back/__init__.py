"""Orange-OpenSource/casskop#321: a disruption budget goes back to an old value, by way of none at all.

A disruption budget could not be changed, so where the wanted one differed the operator deleted it and created another. It restarts and
lists from an API server that lags behind: it sees the value from before the last change, deletes the right budget and puts the old one in
its place, and does the same the other way round once it has caught up.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Assumptions
from setpoint.levelcheck.workload import Workload, apply, patch, wait

CLUSTER = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "CassandraCluster",
    "metadata": {"name": "ring", "namespace": "default"},
    "spec": {"maxUnavailable": 1},
}

ROW = Row(
    name="C8",
    bug="Orange-OpenSource/casskop#321",
    workload=Workload.of(apply(CLUSTER), wait(), patch(CLUSTER, {"spec": {"maxUnavailable": 2}}), wait()),
    faults=("F6",),
    oracles=("O5", "O6"),
    assumptions=Assumptions(lists="old"),
)
