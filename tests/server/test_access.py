"""What stays of a server's token, certificates and port in its data folder, so that a kubeconfig outlives the server."""

from __future__ import annotations

import asyncio
import ssl
import stat
import urllib.request
from pathlib import Path

import pytest
from cryptography import x509

from setpoint.cluster import DataFault
from setpoint.cluster.hosted import hosted
from setpoint.cluster.server.http.access import NAME, access_in, keep
from setpoint.cluster.server.http.serving import Address
from setpoint.cluster.server.http.tls import LOOPBACK
from setpoint.world import World, simulate
from setpoint.world.sockets import RealSockets

DAY = 24 * 60 * 60.0


def is_let_in(address: Address) -> bool:
    """Whether a client with this address, authority and token is answered."""
    trusting = ssl.create_default_context(cadata=address.ca_pem.decode())
    asked = urllib.request.Request(f"{address.url}/api/v1/namespaces", headers={"Authorization": f"Bearer {address.token}"})
    with urllib.request.urlopen(asked, context=trusting) as answer:
        return bool(answer.status == 200)


def test_what_is_kept_already_is_not_written_again(tmp_path: Path) -> None:
    async def twice(world: World) -> None:
        access = access_in(world, tmp_path, LOOPBACK)
        keep(tmp_path, access, 40123)
        first = (tmp_path / NAME).stat().st_ino
        keep(tmp_path, access_in(world, tmp_path, LOOPBACK), 40123)
        assert (tmp_path / NAME).stat().st_ino == first
        keep(tmp_path, access, 40124)
        assert access_in(world, tmp_path, LOOPBACK).port == 40124

    simulate(twice)


def test_yesterdays_address_is_good_today(tmp_path: Path) -> None:
    with hosted(data=tmp_path, controllers=False) as yesterday:
        assert is_let_in(yesterday)
    with hosted(data=tmp_path, controllers=False) as today:
        assert today == yesterday
        assert is_let_in(yesterday)


def test_who_may_read_it_is_the_owner_alone(tmp_path: Path) -> None:
    with hosted(data=tmp_path, controllers=False):
        assert stat.S_IMODE((tmp_path / NAME).stat().st_mode) == 0o600


def test_a_port_that_another_has_taken_is_not_insisted_on(tmp_path: Path) -> None:
    with hosted(data=tmp_path, controllers=False) as first:
        pass
    with RealSockets().listen("127.0.0.1", first.port), hosted(data=tmp_path, controllers=False) as second:
        assert (second.ca_pem, second.token) == (first.ca_pem, first.token)
        assert second.port != first.port
        assert is_let_in(second)


def test_the_port_that_is_asked_for_is_the_one(tmp_path: Path) -> None:
    with hosted(data=tmp_path, controllers=False) as first:
        pass
    with RealSockets().listen("127.0.0.1", 0) as free:
        port = free.getsockname()[1]
    with hosted(port, data=tmp_path, controllers=False) as second:
        assert second.port == port != first.port


def test_in_memory_nothing_is_kept() -> None:
    with hosted(controllers=False) as first:
        pass
    with hosted(controllers=False) as second:
        assert second.token != first.token
        assert second.ca_pem != first.ca_pem


def serial(pem: str) -> int:
    return x509.load_pem_x509_certificate(pem.encode()).serial_number


def test_a_certificate_is_renewed_before_it_expires_and_the_authority_stays(tmp_path: Path) -> None:
    async def main(world: World) -> None:
        first = access_in(world, tmp_path, LOOPBACK)
        keep(tmp_path, first, 6443)
        for days, renewed in ((300, False), (40, True), (3000, True)):
            await asyncio.sleep(days * DAY)
            late = access_in(world, tmp_path, LOOPBACK)
            assert (serial(late.certificate) != serial(first.certificate)) == renewed
            assert (late.authority, late.token, late.port) == (first.authority, first.token, 6443)
            x509.load_pem_x509_certificate(late.certificate.encode()).verify_directly_issued_by(
                x509.load_pem_x509_certificate(late.authority.encode())
            )
        await asyncio.sleep(300 * DAY)
        last = access_in(world, tmp_path, LOOPBACK)
        assert last.authority != first.authority
        assert (last.token, last.port) == (first.token, 6443)

    simulate(main)


def test_a_certificate_is_renewed_for_a_host_that_it_does_not_name(tmp_path: Path) -> None:
    async def main(world: World) -> None:
        first = access_in(world, tmp_path, LOOPBACK)
        keep(tmp_path, first, 0)
        assert access_in(world, tmp_path, LOOPBACK[:1]) == first
        other = access_in(world, tmp_path, (*LOOPBACK, "127.0.0.2"))
        assert other.authority == first.authority
        names = x509.load_pem_x509_certificate(other.certificate.encode()).extensions.get_extension_for_class(x509.SubjectAlternativeName)
        assert "127.0.0.2" in map(str, names.value.get_values_for_type(x509.IPAddress))

    simulate(main)


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b'{"token": 1}'])
def test_a_damaged_file_is_named_and_left_alone(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)
    with pytest.raises(DataFault, match=r"access\.json is damaged: .*remove it"), hosted(data=tmp_path, controllers=False):
        pass
    assert (tmp_path / NAME).read_bytes() == content


def test_certificates_that_cannot_be_read_are_named_too(tmp_path: Path) -> None:
    async def main(world: World) -> None:
        keep(tmp_path, access_in(world, tmp_path, LOOPBACK), 0)
        file = tmp_path / NAME
        file.write_text(file.read_text().replace("BEGIN CERTIFICATE", "BEGIN NOTHING"))
        with pytest.raises(DataFault, match=r"access\.json is damaged"):
            access_in(world, tmp_path, LOOPBACK)

    simulate(main)
