"""A guard: a reconciler that is an object, made with what it depends on."""

from tests.levelcheck.corpus.guards.outside import MailingLists
from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Workload, apply, wait


def newsletter(*readers: str) -> dict[str, object]:
    """What the user wants."""
    return {
        "apiVersion": "guards.example.com/v1",
        "kind": "Newsletter",
        "metadata": {"name": "weekly", "namespace": "default"},
        "spec": {"readers": list(readers)},
    }


ROW = Row(
    name="a class with __call__",
    bug="",
    workload=Workload.of(apply(newsletter("ada@example.com", "alan@example.com")), wait(), apply(newsletter("grace@example.com"))),
    outside={"lists": MailingLists},
)
