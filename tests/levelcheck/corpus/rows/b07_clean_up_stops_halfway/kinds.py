"""The kind, its StatefulSet, and the claim with its data, which nobody owns: it is to outlive what is deleted by mistake."""

from setpoint import ObjectMeta, Quantity, Request, Resource, Struct, kind
from setpoint.k8s.apps.v1 import LabelSelector, PodTemplateSpec, StatefulSet, StatefulSetSpec
from setpoint.k8s.core.v1 import (
    Container,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    PodSpec,
    VolumeResourceRequirements,
)

FINALIZER = "corpus.example.com/delete-data"


class XtraDBSpec(Struct):
    storage: Quantity


class XtraDBStatus(Struct):
    pass


@kind(group="corpus.example.com", version="v1", plural="xtradbclusters")
class XtraDBCluster(Resource[XtraDBSpec, XtraDBStatus]):
    """A database of one member."""


def statefulset_for(cluster: XtraDBCluster) -> StatefulSet:
    labels = {"xtradb": cluster.name}
    return StatefulSet(
        metadata=ObjectMeta(name=cluster.name, namespace=cluster.namespace),
        spec=StatefulSetSpec(
            replicas=1,
            service_name=cluster.name,
            selector=LabelSelector(match_labels=labels),
            template=PodTemplateSpec(
                metadata=ObjectMeta(labels=labels),
                spec=PodSpec(containers=[Container(name="xtradb", image="xtradb:8")]),
            ),
        ),
    )


def claim_for(cluster: XtraDBCluster) -> PersistentVolumeClaim:
    size = VolumeResourceRequirements(requests={"storage": cluster.spec.storage})
    return PersistentVolumeClaim(
        metadata=ObjectMeta(name=f"{cluster.name}-data", namespace=cluster.namespace, labels={"xtradb": cluster.name}),
        spec=PersistentVolumeClaimSpec(access_modes=["ReadWriteOnce"], resources=size),
    )


def cluster_of(claim: PersistentVolumeClaim) -> list[Request]:
    name = claim.metadata.labels.get("xtradb")
    return [Request(claim.namespace, name)] if name else []
