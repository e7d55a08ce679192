"""kumahq/kuma#17065 (and Altinity/clickhouse-operator#2050, projectcalico/calico PRs 12793 and 13663): tombstones are passed over.

A deletion that happened in a gap of the watch is found out by the new list, and told by a tombstone, which has the key and not always the
object. Handlers that expect the object crash on it or, as here, take it for something that is none of their business: what belonged to the
object is never cleaned up.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, delete, wait

ZONE = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "Zone",
    "metadata": {"name": "z", "namespace": "default"},
    "spec": {"text": "example.com"},
}

ROW = Row(
    name="A23",
    bug="kumahq/kuma#17065",
    workload=Workload.of(apply(ZONE), wait(), delete(ZONE), wait()),
    faults=("F9", "F10"),
    oracles=("O8", "O10", "O1"),
    edge=True,
)
