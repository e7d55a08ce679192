"""The kind that both look after."""

from setpoint import Resource, Struct, kind

FINALIZER = "isolation.example.com/certificate"


class HostSpec(Struct):
    domain: str


class HostStatus(Struct):
    certified: bool = False


@kind(group="isolation.example.com", version="v1")
class Host(Resource[HostSpec, HostStatus]):
    """Has a certificate."""
