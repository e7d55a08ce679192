"""A guard: conditions, whose times move with what they say and never by themselves."""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Workload, apply, delete, wait


def route(path: str) -> dict[str, object]:
    """What the user wants."""
    return {
        "apiVersion": "guards.example.com/v1",
        "kind": "Route",
        "metadata": {"name": "home", "namespace": "default"},
        "spec": {"path": path, "backend": "web"},
    }


BACKEND = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {"ports": [{"port": 80}]},
}

ROW = Row(
    name="conditions with stable transition times",
    bug="",
    workload=Workload.of(apply(route("/")), wait(), apply(BACKEND), wait(), apply(route("home")), wait(), delete(BACKEND)),
)
