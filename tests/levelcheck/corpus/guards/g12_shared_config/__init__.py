"""A guard: a ConfigMap that many objects refer to."""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Workload, apply, delete, wait


def settings(level: str) -> dict[str, object]:
    """What they refer to."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "logging", "namespace": "default"},
        "data": {"level": level},
    }


def agent(name: str) -> dict[str, object]:
    """What the user wants."""
    return {
        "apiVersion": "guards.example.com/v1",
        "kind": "Agent",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"settings": "logging"},
    }


ROW = Row(
    name="a mapper from a shared ConfigMap",
    bug="",
    workload=Workload.of(
        apply(agent("a")),
        apply(agent("b")),
        apply(settings("info")),
        wait(),
        apply(settings("debug")),
        wait(),
        delete(settings("")),
    ),
)
