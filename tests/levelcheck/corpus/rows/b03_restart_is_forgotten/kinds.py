"""The kind, and the children that it wants."""

from setpoint import ObjectMeta, Resource, Struct, kind
from setpoint.k8s.core.v1 import ConfigMap, Container, Pod, PodSpec


class NifiSpec(Struct):
    config: str


class NifiStatus(Struct):
    state: str = ""


@kind(group="corpus.example.com", version="v1")
class NifiCluster(Resource[NifiSpec, NifiStatus]):
    """A data flow of one node."""


def config_for(cluster: NifiCluster) -> ConfigMap:
    metadata = ObjectMeta(name=f"{cluster.name}-config", namespace=cluster.namespace)
    return ConfigMap(metadata=metadata, data={"nifi.properties": cluster.spec.config})


def pod_for(cluster: NifiCluster) -> Pod:
    metadata = ObjectMeta(name=f"{cluster.name}-node", namespace=cluster.namespace)
    return Pod(metadata=metadata, spec=PodSpec(containers=[Container(name="nifi", image="nifi:2")]))
