"""A guard: a Secret that is copied into all namespaces with a label."""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Workload, apply, wait


def namespace(name: str, **labels: str) -> dict[str, object]:
    """Where a copy may be."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def source(token: str) -> dict[str, object]:
    """What is copied, in base64."""
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "registry", "namespace": "default"}, "data": {"token": token}}


SHARE = {
    "apiVersion": "guards.example.com/v1",
    "kind": "SharedSecret",
    "metadata": {"name": "pull"},
    "spec": {"source": "default/registry", "label": "pulls"},
}

ROW = Row(
    name="a Secret, copied into namespaces by label",
    bug="",
    workload=Workload.of(
        apply(source("Zmlyc3Q=")),
        apply(SHARE),
        apply(namespace("build", pulls="yes")),
        apply(namespace("test", pulls="yes")),
        wait(),
        apply(namespace("test", pulls="no")),
        wait(),
        apply(source("c2Vjb25k")),
    ),
)
