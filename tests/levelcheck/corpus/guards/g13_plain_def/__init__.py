"""A guard: a reconciler that is a plain function, and runs in a thread."""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Workload, apply, wait


def invoice(*amounts: int) -> dict[str, object]:
    """What the user wants."""
    return {
        "apiVersion": "guards.example.com/v1",
        "kind": "Invoice",
        "metadata": {"name": "no-1", "namespace": "default"},
        "spec": {"amounts": list(amounts)},
    }


ROW = Row(
    name="a plain def reconciler",
    bug="",
    workload=Workload.of(apply(invoice(3, 4)), wait(), apply(invoice(3, 4, 5))),
)
