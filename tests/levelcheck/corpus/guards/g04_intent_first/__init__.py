"""A guard: what was decided about the outside is written down before it is acted on."""

from tests.levelcheck.corpus.guards.outside import Storage
from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Workload, apply, wait


def disk(size: int) -> dict[str, object]:
    """What the user wants."""
    return {
        "apiVersion": "guards.example.com/v1",
        "kind": "Disk",
        "metadata": {"name": "data", "namespace": "default"},
        "spec": {"size": size},
    }


ROW = Row(
    name="an external id, recorded before acting",
    bug="",
    workload=Workload.of(apply(disk(10)), wait(), apply(disk(20))),
    outside={"storage": Storage},
)
