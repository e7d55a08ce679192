"""An ensemble, and the listener through which it is reached."""

from setpoint import ObjectMeta, Resource, Struct, kind


class EnsembleSpec(Struct):
    replicas: int = 1


class NoStatus(Struct):
    pass


class ListenerSpec(Struct):
    target: str
    port: int | None = None
    """Allocated by the cluster where it is not stated."""


@kind(group="corpus.example.com", version="v1")
class Ensemble(Resource[EnsembleSpec, NoStatus]):
    """Some servers."""


@kind(group="network.corpus.example.com", version="v1")
class Listener(Resource[ListenerSpec, NoStatus]):
    """A port on all machines."""


def listener_for(ensemble: Ensemble) -> Listener:
    metadata = ObjectMeta(name=ensemble.name, namespace=ensemble.namespace)
    return Listener(metadata=metadata, spec=ListenerSpec(target=ensemble.name))
