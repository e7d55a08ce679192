"""A guard: a rollout in two phases, the second of which waits until the first has been observed to be done."""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Workload, apply, wait


def release(image: str) -> dict[str, object]:
    """What the user wants."""
    return {
        "apiVersion": "guards.example.com/v1",
        "kind": "Release",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"image": image, "replicas": 2},
    }


ROW = Row(
    name="a rollout in two phases",
    bug="",
    workload=Workload.of(apply(release("web:1")), wait(), apply(release("web:2"))),
)
