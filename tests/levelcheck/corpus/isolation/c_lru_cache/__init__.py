"""State in an `lru_cache`: the one book of addresses that is made at its first use.

A new process begins an empty book, and so leases another address for whoever has one.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Workload, apply, wait

from .outside import Leases


def gateway(port: int) -> dict[str, object]:
    """What the user wants."""
    return {
        "apiVersion": "isolation.example.com/v1",
        "kind": "Gateway",
        "metadata": {"name": "edge", "namespace": "default"},
        "spec": {"port": port},
    }


ROW = Row(
    name="an lru_cache",
    bug="what was leased is kept in a book that an lru_cache holds",
    workload=Workload.of(apply(gateway(80)), wait(), apply(gateway(443))),
    faults=("F1", "F2", "F3", "F12", "F13", "F20"),
    oracles=("O1", "O5", "O8"),
    outside={"leases": Leases},
)
