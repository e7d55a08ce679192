"""The kind, and the Deployment that it wants."""

from setpoint import ObjectMeta, Resource, Struct, kind
from setpoint.k8s.apps.v1 import Deployment, DeploymentSpec, LabelSelector, PodTemplateSpec
from setpoint.k8s.core.v1 import Container, PodSpec


class SparkSpec(Struct):
    workers: int = 1


class SparkStatus(Struct):
    pass


@kind(group="corpus.example.com", version="v1")
class SparkCluster(Resource[SparkSpec, SparkStatus]):
    """Workers of Apache Spark."""


def workers_for(cluster: SparkCluster) -> Deployment:
    labels = {"spark": cluster.name}
    return Deployment(
        metadata=ObjectMeta(name=cluster.name, namespace=cluster.namespace),
        spec=DeploymentSpec(
            replicas=cluster.spec.workers,
            selector=LabelSelector(match_labels=labels),
            template=PodTemplateSpec(
                metadata=ObjectMeta(labels=labels), spec=PodSpec(containers=[Container(name="worker", image="spark:2")])
            ),
        ),
    )
