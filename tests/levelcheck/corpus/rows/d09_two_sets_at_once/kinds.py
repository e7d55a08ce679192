"""The kind, and the StatefulSets that it wants: two copies of the data."""

from setpoint import ObjectMeta, Predicate, Resource, Struct, kind, predicates
from setpoint.k8s.apps.v1 import LabelSelector, PodTemplateSpec, StatefulSet, StatefulSetSpec
from setpoint.k8s.core.v1 import Container, PodSpec

READY_CHANGED: Predicate[StatefulSet] = predicates.changed(lambda statefulset: statefulset.status.ready_replicas)


class M3Spec(Struct):
    image: str


class M3Status(Struct):
    pass


@kind(group="corpus.example.com", version="v1")
class M3Cluster(Resource[M3Spec, M3Status]):
    """A database with two copies of all data."""


def statefulsets_for(cluster: M3Cluster) -> list[StatefulSet]:
    return [_statefulset(cluster, f"{cluster.name}-copy{number}") for number in range(2)]


def _statefulset(cluster: M3Cluster, name: str) -> StatefulSet:
    labels = {"m3": name}
    return StatefulSet(
        metadata=ObjectMeta(name=name, namespace=cluster.namespace),
        spec=StatefulSetSpec(
            replicas=1,
            service_name=name,
            selector=LabelSelector(match_labels=labels),
            template=PodTemplateSpec(
                metadata=ObjectMeta(labels=labels, annotations={"setpoint.dev/ready-after": "5"}),
                spec=PodSpec(containers=[Container(name="m3", image=cluster.spec.image)]),
            ),
        ),
    )
