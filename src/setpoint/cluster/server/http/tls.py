"""A certificate for the loopback address, and the authority that signs it: made at start, kept nowhere but in a data folder.

Clients send credentials only over TLS, so the server needs a certificate, and its kubeconfig carries the authority to trust.
"""

from __future__ import annotations

import ssl
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from setpoint.world import World

LOOPBACK = ("localhost", "127.0.0.1", "::1")
_VALID = timedelta(days=365)
_AUTHORITY_VALID = timedelta(days=3650)
_BEFORE = timedelta(days=1)
"""How long before now certificates begin: clocks of client and server may differ, in containers above all."""


@dataclass(frozen=True)
class Certificates:
    """PEM texts: the authority's certificate, and the server's certificate with its private key."""

    ca: bytes
    certificate: bytes
    key: bytes

    def server_context(self) -> ssl.SSLContext:
        """What a server needs to be the one that these certificates name."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        # The ssl module reads certificates from files alone; this folder is the user's own, and gone at once.
        with tempfile.TemporaryDirectory(prefix="setpoint-") as folder:
            file = Path(folder, "server.pem")
            file.touch(mode=0o600)
            file.write_bytes(self.key + self.certificate)
            context.load_cert_chain(file)
        return context


@dataclass(frozen=True)
class Authority:
    """Who signs: its certificate and its private key, as PEM."""

    certificate: bytes
    key: bytes

    def certificates(self, world: World, hosts: Sequence[str]) -> Certificates:
        """A certificate for the hosts (names or addresses), valid for a year. Raises `ValueError` if the authority cannot be read."""
        authority, ca = load_pem_private_key(self.key, None), x509.load_pem_x509_certificate(self.certificate)
        if not isinstance(authority, ec.EllipticCurvePrivateKey) or authority.public_key() != ca.public_key():
            raise ValueError("the authority's key is not that of its certificate")
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = (
            _builder(world, ca.subject, _name("setpoint-apiserver"), key.public_key(), _VALID)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(x509.SubjectAlternativeName([_subject(host) for host in hosts]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key()), critical=False)
            .sign(authority, SHA256())
        )
        return Certificates(self.certificate, certificate.public_bytes(Encoding.PEM), _pem(key))


def make_authority(world: World) -> Authority:
    """A new authority, valid for ten years."""
    key, name = ec.generate_private_key(ec.SECP256R1()), _name("setpoint")
    certificate = (
        _builder(world, name, name, key.public_key(), _AUTHORITY_VALID)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, SHA256())
    )
    return Authority(certificate.public_bytes(Encoding.PEM), _pem(key))


def make_certificates(world: World, hosts: Sequence[str] = LOOPBACK) -> Certificates:
    """A new authority and, signed by it, a certificate for the hosts."""
    return make_authority(world).certificates(world, hosts)


def expires(pem: bytes) -> datetime:
    """The end of a certificate's time. Raises `ValueError` if it cannot be read."""
    return x509.load_pem_x509_certificate(pem).not_valid_after_utc


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _builder(
    world: World, issuer: x509.Name, subject: x509.Name, key: ec.EllipticCurvePublicKey, valid: timedelta
) -> x509.CertificateBuilder:
    now = world.clock.now()
    return (
        x509.CertificateBuilder()
        .issuer_name(issuer)
        .subject_name(subject)
        .public_key(key)
        .serial_number(int(world.chance.uuid().replace("-", ""), 16))
        .not_valid_before(now - _BEFORE)
        .not_valid_after(now + valid)
    )


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _subject(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
