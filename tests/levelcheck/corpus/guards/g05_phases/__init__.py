"""A guard: a state machine whose state is in the status, and each of whose phases can be entered again."""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Workload, apply, wait


def archive(version: str) -> dict[str, object]:
    """What the user wants."""
    return {
        "apiVersion": "guards.example.com/v1",
        "kind": "Archive",
        "metadata": {"name": "books", "namespace": "default"},
        "spec": {"version": version},
    }


ROW = Row(
    name="a state machine in the status",
    bug="",
    workload=Workload.of(apply(archive("v1")), wait(), apply(archive("v2"))),
)
