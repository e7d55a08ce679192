"""The kind."""

from setpoint import Resource, Struct, kind

FINALIZER = "corpus.example.com/address"


class GatewaySpec(Struct):
    port: int = 80


class GatewayStatus(Struct):
    rented: bool = False


@kind(group="corpus.example.com", version="v1")
class Gateway(Resource[GatewaySpec, GatewayStatus]):
    """An address that a cloud rents out."""
