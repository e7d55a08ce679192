"""Work left to a `finally` block: the traffic that was taken from a server is given back there.

A process that is killed runs no `finally`. The next one finds the settings as they should be, has nothing to change, and the server stays
without traffic.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Workload, apply, wait

from .outside import Balancer


def server(mode: str) -> dict[str, object]:
    """What the user wants."""
    return {
        "apiVersion": "isolation.example.com/v1",
        "kind": "Server",
        "metadata": {"name": "one", "namespace": "default"},
        "spec": {"mode": mode},
    }


ROW = Row(
    name="a finally block",
    bug="what was begun outside is ended in a finally block",
    workload=Workload.of(apply(server("fast")), wait(), apply(server("safe"))),
    faults=("F1", "F2", "F3", "F13", "F15", "F20"),
    oracles=("O1", "O8"),
    outside={"balancer": Balancer},
)
