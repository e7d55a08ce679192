"""The kinds, and the pod on a host."""

from setpoint import ObjectMeta, Resource, Struct, kind
from setpoint.k8s.core.v1 import Container, Pod, PodSpec


class HostSpec(Struct):
    pass


class DaemonSpec(Struct):
    image: str


class DaemonStatus(Struct):
    hosts: list[str] = []


@kind(group="corpus.example.com", version="v1")
class Host(Resource[HostSpec, HostSpec]):
    """A machine."""


@kind(group="corpus.example.com", version="v1")
class Daemon(Resource[DaemonSpec, DaemonStatus]):
    """A program of which one runs on each host."""


def pod_for(daemon: Daemon, host: str, metadata: ObjectMeta) -> Pod:
    metadata.namespace, metadata.labels = daemon.namespace, {"daemon": daemon.name, "host": host}
    return Pod(metadata=metadata, spec=PodSpec(containers=[Container(name="main", image=daemon.spec.image)]))
