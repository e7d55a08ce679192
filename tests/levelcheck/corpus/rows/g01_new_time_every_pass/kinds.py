"""The kind."""

from setpoint import ObjectMeta, Resource, Struct, kind
from setpoint.k8s.core.v1 import ConfigMap


class TopicSpec(Struct):
    partitions: int = 1


class TopicStatus(Struct):
    ready: bool = False
    last_transition_time: str = ""


@kind(group="corpus.example.com", version="v1")
class Topic(Resource[TopicSpec, TopicStatus]):
    """A topic of a message log."""


def config_for(topic: Topic) -> ConfigMap:
    metadata = ObjectMeta(name=f"{topic.name}-topic", namespace=topic.namespace)
    return ConfigMap(metadata=metadata, data={"partitions": str(topic.spec.partitions)})
