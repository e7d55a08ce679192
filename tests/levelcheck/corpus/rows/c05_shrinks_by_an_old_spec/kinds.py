"""The kind, and the claims that it wants: one for each member."""

from setpoint import ObjectMeta, Quantity, Resource, Struct, kind
from setpoint.k8s.core.v1 import PersistentVolumeClaim, PersistentVolumeClaimSpec, VolumeResourceRequirements


class ZookeeperSpec(Struct):
    replicas: int = 1


class ZookeeperStatus(Struct):
    pass


@kind(group="corpus.example.com", version="v1")
class ZookeeperCluster(Resource[ZookeeperSpec, ZookeeperStatus]):
    """An ensemble of ZooKeeper servers."""


def claim_for(cluster: ZookeeperCluster, number: int) -> PersistentVolumeClaim:
    size = VolumeResourceRequirements(requests={"storage": Quantity("1Gi")})
    metadata = ObjectMeta(name=f"{cluster.name}-{number}", namespace=cluster.namespace)
    return PersistentVolumeClaim(metadata=metadata, spec=PersistentVolumeClaimSpec(access_modes=["ReadWriteOnce"], resources=size))
