"""A guard: children that are no longer wanted are deleted."""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Workload, apply, wait


def tenant(*queues: str) -> dict[str, object]:
    """What the user wants."""
    return {
        "apiVersion": "guards.example.com/v1",
        "kind": "Tenant",
        "metadata": {"name": "acme", "namespace": "default"},
        "spec": {"queues": list(queues)},
    }


ROW = Row(
    name="what is no longer wanted is pruned",
    bug="",
    workload=Workload.of(apply(tenant("mail")), wait(), apply(tenant("mail", "orders")), wait(), apply(tenant("orders", "stock"))),
)
