"""The kind, and the pod of a worker."""

from setpoint import ObjectMeta, Resource, Struct, kind
from setpoint.k8s.core.v1 import Container, Pod, PodSpec


class RaySpec(Struct):
    workers: int = 1


class RayStatus(Struct):
    desired_workers: int = 0


@kind(group="corpus.example.com", version="v1")
class RayCluster(Resource[RaySpec, RayStatus]):
    """A cluster of equal workers."""


def worker_of(cluster: RayCluster, metadata: ObjectMeta) -> Pod:
    metadata.namespace = cluster.namespace
    return Pod(metadata=metadata, spec=PodSpec(containers=[Container(name="ray", image="ray:2")]))
