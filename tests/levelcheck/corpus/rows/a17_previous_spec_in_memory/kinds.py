"""The kind, and the StatefulSet that it wants."""

from setpoint import ObjectMeta, Resource, Struct, kind
from setpoint.k8s.apps.v1 import LabelSelector, PodTemplateSpec, StatefulSet, StatefulSetSpec
from setpoint.k8s.core.v1 import Container, PodSpec


class ClusterSpec(Struct):
    replicas: int = 1


class ClusterStatus(Struct):
    pass


@kind(group="corpus.example.com", version="v1")
class Cassandra(Resource[ClusterSpec, ClusterStatus]):
    """A ring of Cassandra nodes."""


def statefulset_for(cluster: Cassandra) -> StatefulSet:
    labels = {"cluster": cluster.name}
    return StatefulSet(
        metadata=ObjectMeta(name=cluster.name, namespace=cluster.namespace),
        spec=StatefulSetSpec(
            replicas=cluster.spec.replicas,
            service_name=cluster.name,
            selector=LabelSelector(match_labels=labels),
            template=PodTemplateSpec(
                metadata=ObjectMeta(labels=labels), spec=PodSpec(containers=[Container(name="main", image="cassandra:3")])
            ),
        ),
    )
