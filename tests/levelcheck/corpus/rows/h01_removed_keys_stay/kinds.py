"""The kind, and the service that it wants."""

from setpoint import ObjectMeta, Resource, Struct, kind
from setpoint.k8s.core.v1 import Service, ServicePort, ServiceSpec


class RabbitmqSpec(Struct):
    annotations: dict[str, str] = {}


class RabbitmqStatus(Struct):
    pass


@kind(group="corpus.example.com", version="v1")
class RabbitmqCluster(Resource[RabbitmqSpec, RabbitmqStatus]):
    """A message broker."""


def service_for(cluster: RabbitmqCluster) -> Service:
    metadata = ObjectMeta(name=cluster.name, namespace=cluster.namespace, annotations=dict(cluster.spec.annotations))
    return Service(metadata=metadata, spec=ServiceSpec(selector={"rabbitmq": cluster.name}, ports=[ServicePort(port=5672)]))
