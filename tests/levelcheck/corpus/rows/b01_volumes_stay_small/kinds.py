"""The kind, the StatefulSet that it wants, and the size of a claim."""

from setpoint import ObjectMeta, Quantity, Request, Resource, Struct, kind
from setpoint.k8s.apps.v1 import LabelSelector, PodTemplateSpec, StatefulSet, StatefulSetSpec
from setpoint.k8s.core.v1 import (
    Container,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    PodSpec,
    VolumeResourceRequirements,
)


class RabbitmqSpec(Struct):
    storage: Quantity


class RabbitmqStatus(Struct):
    pass


@kind(group="corpus.example.com", version="v1")
class RabbitmqCluster(Resource[RabbitmqSpec, RabbitmqStatus]):
    """A message broker of one member."""


def statefulset_for(cluster: RabbitmqCluster) -> StatefulSet:
    labels = {"rabbitmq": cluster.name}
    size = VolumeResourceRequirements(requests={"storage": cluster.spec.storage})
    claim = PersistentVolumeClaim(
        metadata=ObjectMeta(name="data", labels=labels),
        spec=PersistentVolumeClaimSpec(access_modes=["ReadWriteOnce"], resources=size, storage_class_name="expandable"),
    )
    return StatefulSet(
        metadata=ObjectMeta(name=cluster.name, namespace=cluster.namespace),
        spec=StatefulSetSpec(
            replicas=1,
            service_name=cluster.name,
            selector=LabelSelector(match_labels=labels),
            template=PodTemplateSpec(
                metadata=ObjectMeta(labels=labels),
                spec=PodSpec(containers=[Container(name="rabbitmq", image="rabbitmq:4")]),
            ),
            volume_claim_templates=[claim],
        ),
    )


def size_of(claim: PersistentVolumeClaim) -> Quantity:
    return claim.spec.resources.requests["storage"]


def cluster_of(claim: PersistentVolumeClaim) -> list[Request]:
    name = claim.metadata.labels.get("rabbitmq")
    return [Request(claim.namespace, name)] if name else []
