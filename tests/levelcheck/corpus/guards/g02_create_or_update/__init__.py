"""A guard: the child is created where it is missing, and updated where it differs, as controllers in Go do it."""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Workload, apply, wait


def redirect(target: str, code: int = 302) -> dict[str, object]:
    """What the user wants."""
    return {
        "apiVersion": "guards.example.com/v1",
        "kind": "Redirect",
        "metadata": {"name": "old-page", "namespace": "default"},
        "spec": {"target": target, "code": code},
    }


ROW = Row(
    name="create if missing, else update",
    bug="",
    workload=Workload.of(apply(redirect("/new")), wait(), apply(redirect("/newer", 301))),
)
