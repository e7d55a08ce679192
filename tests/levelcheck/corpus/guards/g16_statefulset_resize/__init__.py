"""A guard: a StatefulSet whose members are told to a system outside, and leave that before they go."""

from tests.levelcheck.corpus.guards.outside import Membership
from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Workload, apply, wait


def ring(size: int) -> dict[str, object]:
    """What the user wants."""
    return {
        "apiVersion": "guards.example.com/v1",
        "kind": "Ring",
        "metadata": {"name": "kv", "namespace": "default"},
        "spec": {"size": size},
    }


ROW = Row(
    name="a StatefulSet, resized in the right order",
    bug="",
    workload=Workload.of(apply(ring(3)), wait(), apply(ring(1)), wait(), apply(ring(2))),
    outside={"membership": Membership},
)
