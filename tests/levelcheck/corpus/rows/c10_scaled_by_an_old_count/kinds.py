"""The kind, and the StatefulSet that it wants."""

from setpoint import ObjectMeta, Resource, Struct, kind
from setpoint.k8s.apps.v1 import LabelSelector, PodTemplateSpec, StatefulSet, StatefulSetSpec
from setpoint.k8s.core.v1 import Container, PodSpec


class ElasticsearchSpec(Struct):
    count: int = 1


class ElasticsearchStatus(Struct):
    pass


@kind(group="corpus.example.com", version="v1", plural="elasticsearches")
class Elasticsearch(Resource[ElasticsearchSpec, ElasticsearchStatus]):
    """A search engine."""


def statefulset_for(cluster: Elasticsearch) -> StatefulSet:
    labels = {"elasticsearch": cluster.name}
    return StatefulSet(
        metadata=ObjectMeta(name=cluster.name, namespace=cluster.namespace),
        spec=StatefulSetSpec(
            replicas=cluster.spec.count,
            service_name=cluster.name,
            selector=LabelSelector(match_labels=labels),
            template=PodTemplateSpec(
                metadata=ObjectMeta(labels=labels),
                spec=PodSpec(containers=[Container(name="elasticsearch", image="elasticsearch:9")]),
            ),
        ),
    )
