"""The kind, and the config map that it wants."""

from setpoint import ObjectMeta, Resource, Struct, kind
from setpoint.k8s.core.v1 import ConfigMap


class ZoneSpec(Struct):
    text: str


class ZoneStatus(Struct):
    pass


@kind(group="corpus.example.com", version="v1")
class Zone(Resource[ZoneSpec, ZoneStatus]):
    """A zone, whose records are kept in a config map, which it does not own."""


def config_for(zone: Zone) -> ConfigMap:
    metadata = ObjectMeta(name=zone.name, namespace=zone.namespace, labels={"zone": zone.name})
    return ConfigMap(metadata=metadata, data={"text": zone.spec.text})
