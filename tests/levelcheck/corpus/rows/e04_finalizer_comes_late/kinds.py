"""The kind."""

from setpoint import Resource, Struct, kind

FINALIZER = "corpus.example.com/machine"


class CloudMachineSpec(Struct):
    size: str


class CloudMachineStatus(Struct):
    rented: bool = False


@kind(group="corpus.example.com", version="v1")
class CloudMachine(Resource[CloudMachineSpec, CloudMachineStatus]):
    """A machine that a cloud rents out."""
