"""A guard: a Job that is not watched, but looked at every few seconds."""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Workload, apply, wait


def backup(name: str, source: str) -> dict[str, object]:
    """What the user wants."""
    return {
        "apiVersion": "guards.example.com/v1",
        "kind": "Backup",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"source": source},
    }


ROW = Row(
    name="a timer that polls a Job",
    bug="",
    workload=Workload.of(apply(backup("nightly", "orders")), wait(), apply(backup("weekly", "stock"))),
)
