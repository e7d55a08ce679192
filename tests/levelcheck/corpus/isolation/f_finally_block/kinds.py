"""The kind that both look after."""

from setpoint import ObjectMeta, Resource, Struct, kind
from setpoint.k8s.core.v1 import ConfigMap

FINALIZER = "isolation.example.com/traffic"


class ServerSpec(Struct):
    mode: str


class ServerStatus(Struct):
    mode: str = ""


@kind(group="isolation.example.com", version="v1")
class Server(Resource[ServerSpec, ServerStatus]):
    """A server whose settings may change while it has no traffic."""


def settings_for(server: Server) -> ConfigMap:
    """The server's settings."""
    return ConfigMap(metadata=ObjectMeta(name=f"server-{server.name}", namespace=server.namespace), data={"mode": server.spec.mode})
