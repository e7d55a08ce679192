"""The kind, and the certificates that it wants; cert-manager has no part in this, so they are what stands in for its kind."""

from setpoint import ObjectMeta, Resource, Struct, kind


class MongoSpec(Struct):
    domain: str


class NoStatus(Struct):
    pass


class CertificateSpec(Struct):
    common_name: str
    secret_name: str


@kind(group="corpus.example.com", version="v1")
class MongoCluster(Resource[MongoSpec, NoStatus]):
    """A document database."""


@kind(group="certificates.corpus.example.com", version="v1")
class Certificate(Resource[CertificateSpec, NoStatus]):
    """Asks for a certificate in a secret."""


def certificate_for(cluster: MongoCluster, use: str) -> Certificate:
    name = f"{cluster.name}-{use}"
    return Certificate(
        metadata=ObjectMeta(name=name, namespace=cluster.namespace),
        spec=CertificateSpec(common_name=cluster.spec.domain, secret_name=name),
    )
