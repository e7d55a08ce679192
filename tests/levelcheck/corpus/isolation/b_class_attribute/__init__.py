"""State in a class attribute: the names, made up by the server, of the pods that were created.

A new process knows of none, and creates another pod beside the one that runs.
"""

from typing import Any

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Workload, apply, wait


def session(image: str) -> dict[str, object]:
    """What the user wants."""
    return {
        "apiVersion": "isolation.example.com/v1",
        "kind": "Session",
        "metadata": {"name": "ada", "namespace": "default"},
        "spec": {"image": image},
    }


def role(pod: dict[str, Any]) -> str | None:
    """A session has one pod."""
    return "session" if "session" in pod["metadata"].get("labels", {}) else None


ROW = Row(
    name="a class attribute",
    bug="the generated names of children are kept in a class attribute",
    workload=Workload.of(apply(session("shell:1")), wait(), apply(session("shell:2"))),
    faults=("F1", "F2", "F3", "F12", "F13"),
    oracles=("O1", "O5", "O8", "O9"),
    roles={"pods": role},
)
