"""The kind, and the StatefulSet that it wants."""

from setpoint import ObjectMeta, Resource, Struct, kind
from setpoint.k8s.apps.v1 import LabelSelector, PodTemplateSpec, StatefulSet, StatefulSetSpec
from setpoint.k8s.core.v1 import Container, PodSpec


class PostgresSpec(Struct):
    image: str


class PostgresStatus(Struct):
    pass


@kind(group="corpus.example.com", version="v1")
class PostgresCluster(Resource[PostgresSpec, PostgresStatus]):
    """A database of one member."""


def labels_of(cluster: PostgresCluster) -> dict[str, str]:
    return {"postgres": cluster.name}


def statefulset_for(cluster: PostgresCluster) -> StatefulSet:
    return StatefulSet(
        metadata=ObjectMeta(name=cluster.name, namespace=cluster.namespace),
        spec=StatefulSetSpec(
            replicas=1,
            service_name=cluster.name,
            selector=LabelSelector(match_labels=labels_of(cluster)),
            template=PodTemplateSpec(
                metadata=ObjectMeta(labels=labels_of(cluster)),
                spec=PodSpec(containers=[Container(name="postgres", image=cluster.spec.image)]),
            ),
        ),
    )
