"""The kind, and what it wants."""

from setpoint import ObjectMeta, Quantity, Resource, Struct, kind
from setpoint.k8s.core.v1 import (
    Container,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    Pod,
    PodSpec,
    VolumeResourceRequirements,
)


class PostgresSpec(Struct):
    pass


class PostgresStatus(Struct):
    pass


@kind(group="corpus.example.com", version="v1")
class Postgres(Resource[PostgresSpec, PostgresStatus]):
    """One instance with its volume."""


def claim_for(cluster: Postgres) -> PersistentVolumeClaim:
    size = VolumeResourceRequirements(requests={"storage": Quantity("1Gi")})
    return PersistentVolumeClaim(
        metadata=ObjectMeta(name=cluster.name, namespace=cluster.namespace),
        spec=PersistentVolumeClaimSpec(access_modes=["ReadWriteOnce"], resources=size),
    )


def pod_for(cluster: Postgres) -> Pod:
    return Pod(
        metadata=ObjectMeta(name=cluster.name, namespace=cluster.namespace),
        spec=PodSpec(containers=[Container(name="main", image="postgres:17")]),
    )
