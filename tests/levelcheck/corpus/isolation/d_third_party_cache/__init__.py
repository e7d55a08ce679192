"""State in a cache of a third party: what an object wanted when it was last looked at.

What is wanted no longer is found by the difference to that. A new process knows no earlier state, and so finds none, and what nobody wants
stays.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Workload, apply, wait


def book(*chapters: str) -> dict[str, object]:
    """What the user wants."""
    return {
        "apiVersion": "isolation.example.com/v1",
        "kind": "Book",
        "metadata": {"name": "guide", "namespace": "default"},
        "spec": {"chapters": list(chapters)},
    }


ROW = Row(
    name="a third-party cache",
    bug="what was wanted before is kept in a cache of cachetools",
    workload=Workload.of(apply(book("start", "faq")), wait(), apply(book("start", "end"))),
    faults=("F1", "F2", "F12", "F13"),
    oracles=("O1", "O5", "O8", "O12"),
)
