"""A guard: a counter that is counted anew each time, and never counted up."""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Workload, apply, delete, wait


def claim(name: str, amount: int) -> dict[str, object]:
    """What is counted."""
    return {
        "apiVersion": "guards.example.com/v1",
        "kind": "Claim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"amount": amount},
    }


BUDGET = {
    "apiVersion": "guards.example.com/v1",
    "kind": "Budget",
    "metadata": {"name": "year", "namespace": "default"},
    "spec": {"limit": 10},
}

ROW = Row(
    name="a counter computed from a list",
    bug="",
    workload=Workload.of(
        apply(BUDGET),
        apply(claim("travel", 6)),
        wait(),
        apply(claim("books", 5)),
        wait(),
        delete(claim("travel", 6)),
        apply(claim("books", 7)),
    ),
)
