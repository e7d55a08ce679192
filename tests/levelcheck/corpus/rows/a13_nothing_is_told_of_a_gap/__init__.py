"""nolar/kopf#698: an object whose event fell into a gap of the watch stays unhandled until somebody touches it.

Handlers are called for creations, updates and deletions. When the watch broke and the server had forgotten the version to go on from, it
was begun again from the present one, and what had happened in between was no event any more.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, wait


def example(name: str) -> dict[str, object]:
    return {
        "apiVersion": "corpus.example.com/v1",
        "kind": "Note",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"text": name},
    }


ROW = Row(
    name="A13",
    bug="nolar/kopf#698",
    workload=Workload.of(apply(example("one")), wait(), apply(example("two")), wait()),
    faults=("F9", "F10", "F8"),
    oracles=("O2", "O1"),
    edge=True,
)
