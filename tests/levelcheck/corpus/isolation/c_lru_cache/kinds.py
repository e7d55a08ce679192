"""The kind that both look after."""

from setpoint import ObjectMeta, Resource, Struct, kind
from setpoint.k8s.core.v1 import ConfigMap

FINALIZER = "isolation.example.com/lease"


class GatewaySpec(Struct):
    port: int


class GatewayStatus(Struct):
    port: int = 0


@kind(group="isolation.example.com", version="v1")
class Gateway(Resource[GatewaySpec, GatewayStatus]):
    """Listens at a leased address."""


def settings_for(gateway: Gateway, address: str) -> ConfigMap:
    """What the gateway's program reads."""
    meta = ObjectMeta(name=f"gateway-{gateway.name}", namespace=gateway.namespace)
    return ConfigMap(metadata=meta, data={"listen": f"{address}:{gateway.spec.port}"})
