"""The kind, and the StatefulSet that it wants."""

from setpoint import ObjectMeta, Quantity, Resource, Struct, kind
from setpoint.k8s.apps.v1 import LabelSelector, PodTemplateSpec, StatefulSet, StatefulSetSpec
from setpoint.k8s.core.v1 import Container, PersistentVolumeClaim, PersistentVolumeClaimSpec, PodSpec, VolumeResourceRequirements


class PerconaSpec(Struct):
    size: int = 1


class PerconaStatus(Struct):
    pass


@kind(group="corpus.example.com", version="v1")
class PerconaCluster(Resource[PerconaSpec, PerconaStatus]):
    """A database of several members, each with a volume."""


def statefulset_for(cluster: PerconaCluster) -> StatefulSet:
    labels = {"cluster": cluster.name}
    size = VolumeResourceRequirements(requests={"storage": Quantity("1Gi")})
    claim = PersistentVolumeClaim(
        metadata=ObjectMeta(name="data"), spec=PersistentVolumeClaimSpec(access_modes=["ReadWriteOnce"], resources=size)
    )
    return StatefulSet(
        metadata=ObjectMeta(name=cluster.name, namespace=cluster.namespace),
        spec=StatefulSetSpec(
            replicas=cluster.spec.size,
            service_name=cluster.name,
            selector=LabelSelector(match_labels=labels),
            template=PodTemplateSpec(metadata=ObjectMeta(labels=labels), spec=PodSpec(containers=[Container(name="main", image="pxc:8")])),
            volume_claim_templates=[claim],
        ),
    )
