"""A guard: an owner and its children, stated by apply. The first example of the documentation, with nothing left out."""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Workload, apply, wait


def shop(image: str, replicas: int) -> dict[str, object]:
    """What the user wants."""
    return {
        "apiVersion": "guards.example.com/v1",
        "kind": "Shop",
        "metadata": {"name": "corner", "namespace": "default"},
        "spec": {"image": image, "replicas": replicas},
    }


ROW = Row(
    name="an owner and its children, by apply",
    bug="",
    workload=Workload.of(apply(shop("shop:1", 1)), wait(), apply(shop("shop:2", 2))),
)
