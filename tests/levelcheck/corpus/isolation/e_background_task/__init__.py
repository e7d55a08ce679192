"""State in a background task: what was said to be done, and waits in a queue.

The status says that it is taken care of before it is. When the process ends in between, nobody comes back to it.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Workload, apply, wait


def report(topic: str) -> dict[str, object]:
    """What the user wants."""
    return {
        "apiVersion": "isolation.example.com/v1",
        "kind": "Report",
        "metadata": {"name": "monthly", "namespace": "default"},
        "spec": {"topic": topic},
    }


ROW = Row(
    name="a background task",
    bug="the work is done by a background task, and the status says so before",
    workload=Workload.of(apply(report("sales")), wait(), apply(report("stock"))),
    faults=("F1", "F2", "F3", "F12", "F13", "F19"),
    oracles=("O1", "O5", "O14"),
)
