"""A certificate, and the request for it."""

from setpoint import ObjectMeta, Resource, Struct, kind


class CertificateSpec(Struct):
    domain: str


class CertificateStatus(Struct):
    requested: bool = False


class CertificateRequestSpec(Struct):
    domain: str


class CertificateRequestStatus(Struct):
    pass


@kind(group="corpus.example.com", version="v1")
class Certificate(Resource[CertificateSpec, CertificateStatus]):
    """A certificate that is wanted."""


@kind(group="corpus.example.com", version="v1")
class CertificateRequest(Resource[CertificateRequestSpec, CertificateRequestStatus]):
    """Asks an authority to sign one."""


def request_for(certificate: Certificate, metadata: ObjectMeta) -> CertificateRequest:
    metadata.namespace = certificate.namespace
    return CertificateRequest(metadata=metadata, spec=CertificateRequestSpec(domain=certificate.spec.domain))
