"""The kind, and the claims that it wants: one for each member. Nobody owns them: the operator itself deletes them."""

from setpoint import ObjectMeta, Quantity, Request, Resource, Struct, kind
from setpoint.k8s.core.v1 import PersistentVolumeClaim, PersistentVolumeClaimSpec, VolumeResourceRequirements

FINALIZER = "corpus.example.com/claims"


class ZookeeperSpec(Struct):
    replicas: int = 1


class ZookeeperStatus(Struct):
    pass


@kind(group="corpus.example.com", version="v1")
class ZookeeperCluster(Resource[ZookeeperSpec, ZookeeperStatus]):
    """An ensemble of ZooKeeper servers."""


def claim_for(cluster: ZookeeperCluster, number: int) -> PersistentVolumeClaim:
    size = VolumeResourceRequirements(requests={"storage": Quantity("1Gi")})
    labels = {"zookeeper": cluster.name, "zookeeper-uid": cluster.uid}
    metadata = ObjectMeta(name=f"{cluster.name}-{number}", namespace=cluster.namespace, labels=labels)
    return PersistentVolumeClaim(metadata=metadata, spec=PersistentVolumeClaimSpec(access_modes=["ReadWriteOnce"], resources=size))


def cluster_of(claim: PersistentVolumeClaim) -> list[Request]:
    name = claim.metadata.labels.get("zookeeper")
    return [Request(claim.namespace, name)] if name else []
