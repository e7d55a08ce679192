"""The kind, and the children that it wants."""

from setpoint import ObjectMeta, Resource, Struct, kind
from setpoint.k8s.core.v1 import Container, Pod, PodSpec, Secret, SecretVolumeSource, Volume


class DatacenterSpec(Struct):
    nodes: int = 1


class DatacenterStatus(Struct):
    progress: str = ""


@kind(group="corpus.example.com", version="v1")
class CassandraDatacenter(Resource[DatacenterSpec, DatacenterStatus]):
    """A data centre of one node."""


def keystore_for(datacentre: CassandraDatacenter, use: str) -> Secret:
    metadata = ObjectMeta(name=f"{datacentre.name}-{use}-keystore", namespace=datacentre.namespace)
    return Secret(metadata=metadata, string_data={"keystore": f"{use} of {datacentre.name}"})


def pod_for(datacentre: CassandraDatacenter) -> Pod:
    keystore = Volume(name="keystore", secret=SecretVolumeSource(secret_name=f"{datacentre.name}-node-keystore"))
    metadata = ObjectMeta(name=f"{datacentre.name}-0", namespace=datacentre.namespace)
    return Pod(metadata=metadata, spec=PodSpec(containers=[Container(name="cassandra", image="cassandra:4")], volumes=[keystore]))
