"""kubernetes/kubernetes#54096: two daemons on one host after a restart.

One pod is to run on each host. The controller crashes right after it has created one; the new process lists pods from a cache that does
not have it yet, and creates a second one on that host, under another random name.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Assumptions
from setpoint.levelcheck.workload import Workload, apply, wait

HOST = {"apiVersion": "corpus.example.com/v1", "kind": "Host", "metadata": {"name": "h1", "namespace": "default"}, "spec": {}}
DAEMON = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "Daemon",
    "metadata": {"name": "logs", "namespace": "default"},
    "spec": {"image": "logs:1"},
}

ROW = Row(
    name="D3",
    bug="kubernetes/kubernetes#54096",
    workload=Workload.of(apply(HOST), apply(DAEMON), wait()),
    faults=("F6", "F5", "F1"),
    oracles=("O9", "O1", "O5"),
    decisions=2,
    assumptions=Assumptions(lists="old", own_writes="late"),
    roles={"pods": lambda pod: pod["metadata"].get("labels", {}).get("host")},
)
