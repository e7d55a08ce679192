"""A guard: children with generated names, which are found by label and owner, and adopted where nobody owns them."""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Workload, apply, delete, wait


def pool(size: int) -> dict[str, object]:
    """What the user wants."""
    return {
        "apiVersion": "guards.example.com/v1",
        "kind": "Pool",
        "metadata": {"name": "runners", "namespace": "default"},
        "spec": {"size": size},
    }


ROW = Row(
    name="generated names, and adoption by label",
    bug="",
    workload=Workload.of(apply(pool(3)), wait(), delete(pool(3), propagation="Orphan"), wait(), apply(pool(2))),
)
