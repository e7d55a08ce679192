"""The kind, and the StatefulSet that it wants."""

from setpoint import ObjectMeta, Resource, Struct, kind
from setpoint.k8s.apps.v1 import LabelSelector, PodTemplateSpec, StatefulSet, StatefulSetSpec
from setpoint.k8s.core.v1 import Container, PodSpec

FINALIZER = "corpus.example.com/zookeeper"
PARENT = "/operator"


class ZookeeperSpec(Struct):
    replicas: int = 1


class ZookeeperStatus(Struct):
    pass


@kind(group="corpus.example.com", version="v1")
class ZookeeperCluster(Resource[ZookeeperSpec, ZookeeperStatus]):
    """An ensemble of ZooKeeper servers."""


def statefulset_for(cluster: ZookeeperCluster) -> StatefulSet:
    labels = {"zookeeper": cluster.name}
    return StatefulSet(
        metadata=ObjectMeta(name=cluster.name, namespace=cluster.namespace),
        spec=StatefulSetSpec(
            replicas=cluster.spec.replicas,
            service_name=cluster.name,
            pod_management_policy="Parallel",
            selector=LabelSelector(match_labels=labels),
            template=PodTemplateSpec(
                metadata=ObjectMeta(labels=labels),
                spec=PodSpec(containers=[Container(name="zookeeper", image="zookeeper:3")]),
            ),
        ),
    )
