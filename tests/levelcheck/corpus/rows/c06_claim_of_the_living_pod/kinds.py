"""The kind, and the pods and claims that it wants: one of each for every node."""

from setpoint import Context, ObjectMeta, Quantity, Request, Resource, Struct, kind
from setpoint.k8s.core.v1 import (
    Container,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    Pod,
    PodSpec,
    VolumeResourceRequirements,
)

FINALIZER = "corpus.example.com/claim"
"""Of pods: so that none is gone before its claim was seen to."""


class DataCenterSpec(Struct):
    nodes: int = 1


class DataCenterStatus(Struct):
    pass


@kind(group="corpus.example.com", version="v1")
class CassandraDataCenter(Resource[DataCenterSpec, DataCenterStatus]):
    """A ring of Cassandra nodes."""


def _labels(datacentre: CassandraDataCenter, number: int) -> dict[str, str]:
    return {"datacentre": datacentre.name, "datacentre-uid": datacentre.uid, "node": str(number)}


def pod_for(datacentre: CassandraDataCenter, number: int) -> Pod:
    metadata = ObjectMeta(
        name=f"{datacentre.name}-{number}",
        namespace=datacentre.namespace,
        labels=_labels(datacentre, number),
        finalizers=[FINALIZER],
    )
    return Pod(metadata=metadata, spec=PodSpec(containers=[Container(name="cassandra", image="cassandra:4")]))


def claim_for(datacentre: CassandraDataCenter, number: int) -> PersistentVolumeClaim:
    metadata = ObjectMeta(name=f"data-{datacentre.name}-{number}", namespace=datacentre.namespace, labels=_labels(datacentre, number))
    size = VolumeResourceRequirements(requests={"storage": Quantity("1Gi")})
    return PersistentVolumeClaim(metadata=metadata, spec=PersistentVolumeClaimSpec(access_modes=["ReadWriteOnce"], resources=size))


def datacentre_of(obj: Pod | PersistentVolumeClaim) -> list[Request]:
    name = obj.metadata.labels.get("datacentre")
    return [Request(obj.namespace, name)] if name else []


async def is_current(ctx: Context, datacentre: CassandraDataCenter) -> bool:
    """Whether the server still wants what was seen; if not, the cache is behind, and what comes makes another run."""
    live = await ctx.get(CassandraDataCenter, datacentre.key, live=True)
    return live is not None and (live.uid, live.metadata.generation) == (datacentre.uid, datacentre.metadata.generation)
