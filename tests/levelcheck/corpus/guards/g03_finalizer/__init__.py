"""A guard: something outside the cluster, and a finalizer that keeps the object until it is cleaned up."""

from tests.levelcheck.corpus.guards.outside import Dns
from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Workload, apply, delete, wait


def site(name: str, address: str) -> dict[str, object]:
    """What the user wants."""
    return {
        "apiVersion": "guards.example.com/v1",
        "kind": "Site",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"address": address},
    }


ROW = Row(
    name="a finalizer, and an external system",
    bug="",
    workload=Workload.of(
        apply(site("blog", "192.0.2.1")),
        apply(site("wiki", "192.0.2.2")),
        wait(),
        apply(site("blog", "192.0.2.3")),
        wait(),
        delete(site("wiki", "")),
    ),
    outside={"dns": Dns},
)
