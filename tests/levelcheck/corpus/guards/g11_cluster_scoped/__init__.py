"""A guard: a kind without namespaces, and its children in many of them."""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Workload, apply, wait


def namespace(name: str) -> dict[str, object]:
    """Where a child may be."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def policy(*namespaces: str) -> dict[str, object]:
    """What the user wants."""
    return {
        "apiVersion": "guards.example.com/v1",
        "kind": "Policy",
        "metadata": {"name": "strict"},
        "spec": {"namespaces": list(namespaces), "rules": "deny all"},
    }


ROW = Row(
    name="a cluster-scoped kind with children in many namespaces",
    bug="",
    workload=Workload.of(
        apply(namespace("east")),
        apply(policy("east", "west")),
        wait(),
        apply(policy("west")),
        wait(),
        apply(namespace("west")),
    ),
)
