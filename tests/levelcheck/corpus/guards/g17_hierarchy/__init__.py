"""A guard: three levels of objects, each of which goes with the one above it."""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Workload, apply, delete, wait


def fleet(name: str, *ships: str) -> dict[str, object]:
    """What the user wants."""
    return {
        "apiVersion": "guards.example.com/v1",
        "kind": "Fleet",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"ships": list(ships)},
    }


ROW = Row(
    name="a garbage-collected hierarchy of three levels",
    bug="",
    workload=Workload.of(
        apply(fleet("north", "anna", "berta")),
        apply(fleet("south", "clara")),
        wait(),
        apply(fleet("north", "berta")),
        delete(fleet("south")),
    ),
)
