"""A control plane, and its machines."""

from setpoint import ObjectMeta, Resource, Struct, kind

FINALIZER = "corpus.example.com/server"


class ControlPlaneSpec(Struct):
    replicas: int = 1


class ControlPlaneStatus(Struct):
    replicas: int = 0


class MachineSpec(Struct):
    pass


class MachineStatus(Struct):
    rented: bool = False


@kind(group="corpus.example.com", version="v1")
class ControlPlane(Resource[ControlPlaneSpec, ControlPlaneStatus]):
    """Some machines with a control plane on them."""


@kind(group="corpus.example.com", version="v1")
class Machine(Resource[MachineSpec, MachineStatus]):
    """A machine, for which a server is rented."""


def machine_for(plane: ControlPlane, metadata: ObjectMeta) -> Machine:
    metadata.namespace = plane.namespace
    return Machine(metadata=metadata, spec=MachineSpec())
