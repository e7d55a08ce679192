"""A guard: two processes, of which one leads."""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Workload, apply, wait


def banner(**texts: str) -> dict[str, object]:
    """What the user wants."""
    return {
        "apiVersion": "guards.example.com/v1",
        "kind": "Banner",
        "metadata": {"name": "top", "namespace": "default"},
        "spec": {"texts": texts},
    }


ROW = Row(
    name="a pair with an elected leader",
    bug="",
    workload=Workload.of(apply(banner(en="Hello", de="Hallo")), wait(), apply(banner(en="Welcome"))),
    leaders=2,
)
