"""The kind, and the pod and the claim of its node. Somebody else deletes the pod once the node has left."""

from setpoint import ObjectMeta, Quantity, Resource, Struct, kind
from setpoint.k8s.core.v1 import (
    Container,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    PersistentVolumeClaimVolumeSource,
    Pod,
    PodSpec,
    Volume,
    VolumeResourceRequirements,
)

RELEASED = "corpus.example.com/released-at"


class DatacenterSpec(Struct):
    leaving: bool = False


class DatacenterStatus(Struct):
    pass


@kind(group="corpus.example.com", version="v1")
class CassandraDatacenter(Resource[DatacenterSpec, DatacenterStatus]):
    """A data centre of one node."""


def claim_for(datacentre: CassandraDatacenter) -> PersistentVolumeClaim:
    size = VolumeResourceRequirements(requests={"storage": Quantity("1Gi")})
    return PersistentVolumeClaim(
        metadata=ObjectMeta(name=f"{datacentre.name}-0", namespace=datacentre.namespace),
        spec=PersistentVolumeClaimSpec(access_modes=["ReadWriteOnce"], resources=size),
    )


def pod_for(datacentre: CassandraDatacenter) -> Pod:
    name = f"{datacentre.name}-0"
    data = Volume(name="data", persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name=name))
    return Pod(
        metadata=ObjectMeta(name=name, namespace=datacentre.namespace),
        spec=PodSpec(containers=[Container(name="cassandra", image="cassandra:4")], volumes=[data]),
    )
