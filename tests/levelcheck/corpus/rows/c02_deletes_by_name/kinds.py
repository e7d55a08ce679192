"""The kind, and the StatefulSet that it wants."""

from setpoint import ObjectMeta, Resource, Struct, kind
from setpoint.k8s.apps.v1 import LabelSelector, PodTemplateSpec, StatefulSet, StatefulSetSpec
from setpoint.k8s.core.v1 import Container, PodSpec

FINALIZER = "corpus.example.com/rabbitmq"


class RabbitmqSpec(Struct):
    replicas: int = 1


class RabbitmqStatus(Struct):
    pass


@kind(group="corpus.example.com", version="v1")
class RabbitmqCluster(Resource[RabbitmqSpec, RabbitmqStatus]):
    """A message broker."""


def statefulset_for(cluster: RabbitmqCluster) -> StatefulSet:
    labels = {"rabbitmq": cluster.name}
    return StatefulSet(
        metadata=ObjectMeta(name=cluster.name, namespace=cluster.namespace),
        spec=StatefulSetSpec(
            replicas=cluster.spec.replicas,
            service_name=cluster.name,
            selector=LabelSelector(match_labels=labels),
            template=PodTemplateSpec(
                metadata=ObjectMeta(labels=labels),
                spec=PodSpec(containers=[Container(name="rabbitmq", image="rabbitmq:4")]),
            ),
        ),
    )
