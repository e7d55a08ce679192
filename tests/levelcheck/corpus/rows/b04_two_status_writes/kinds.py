"""The kind, and the pod of a node."""

from setpoint import ObjectMeta, Resource, Struct, kind
from setpoint.k8s.core.v1 import Container, Pod, PodSpec


class NodeState(Struct):
    configuration: str = ""
    graceful: str = ""
    """Whether the node has joined the flow; only one that has can be asked to leave it."""


class NifiSpec(Struct):
    nodes: int = 1


class NifiStatus(Struct):
    nodes: dict[str, NodeState] = {}


@kind(group="corpus.example.com", version="v1")
class NifiCluster(Resource[NifiSpec, NifiStatus]):
    """A data flow of some nodes."""


def pod_for(cluster: NifiCluster, name: str) -> Pod:
    metadata = ObjectMeta(name=name, namespace=cluster.namespace)
    return Pod(metadata=metadata, spec=PodSpec(containers=[Container(name="nifi", image="nifi:2")]))
