"""The kind, and the StatefulSet that it wants."""

from setpoint import ObjectMeta, Quantity, Request, Resource, Struct, kind
from setpoint.k8s.apps.v1 import LabelSelector, PodTemplateSpec, StatefulSet, StatefulSetSpec
from setpoint.k8s.core.v1 import (
    Container,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    Pod,
    PodSpec,
    VolumeResourceRequirements,
)

KUBELET = "corpus.example.com/kubelet"
"""A finalizer of pods, which thus stay for a moment after they were marked, as where containers have to stop."""


class DataCenterSpec(Struct):
    nodes: int = 1


class DataCenterStatus(Struct):
    pass


@kind(group="corpus.example.com", version="v1")
class CassandraDataCenter(Resource[DataCenterSpec, DataCenterStatus]):
    """A ring of Cassandra nodes."""


def statefulset_for(datacentre: CassandraDataCenter) -> StatefulSet:
    labels = {"datacentre": datacentre.name}
    size = VolumeResourceRequirements(requests={"storage": Quantity("1Gi")})
    claim = PersistentVolumeClaim(
        metadata=ObjectMeta(name="data", labels=labels),
        spec=PersistentVolumeClaimSpec(access_modes=["ReadWriteOnce"], resources=size),
    )
    return StatefulSet(
        metadata=ObjectMeta(name=datacentre.name, namespace=datacentre.namespace),
        spec=StatefulSetSpec(
            replicas=datacentre.spec.nodes,
            service_name=datacentre.name,
            selector=LabelSelector(match_labels=labels),
            template=PodTemplateSpec(
                metadata=ObjectMeta(labels=labels, finalizers=[KUBELET]),
                spec=PodSpec(containers=[Container(name="cassandra", image="cassandra:4")]),
            ),
            volume_claim_templates=[claim],
        ),
    )


def ordinal(obj: Pod | PersistentVolumeClaim) -> int:
    return int(obj.name.rpartition("-")[2])


def datacentre_of(obj: Pod | PersistentVolumeClaim) -> list[Request]:
    name = obj.metadata.labels.get("datacentre")
    return [Request(obj.namespace, name)] if name else []
