"""kubernetes/kubernetes#88097: children are collected before their owners are known.

The collector began with the children before its cache of their owners was complete, found no owner of a child, and deleted it, though the
owner was there all the time.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Assumptions
from setpoint.levelcheck.workload import Workload, apply, wait

TENANT = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "Tenant",
    "metadata": {"name": "acme", "namespace": "default"},
    "spec": {},
}
GRANT = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "Grant",
    "metadata": {"name": "read", "namespace": "default"},
    "spec": {"tenant": "acme"},
}

ROW = Row(
    name="E6",
    bug="kubernetes/kubernetes#88097",
    workload=Workload.of(apply(TENANT), wait(), apply(GRANT), wait()),
    faults=("F16", "F5", "F7", "F6"),
    oracles=("O6", "O1", "O5"),
    assumptions=Assumptions(sync="partial"),
)
