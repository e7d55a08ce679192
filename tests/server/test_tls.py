"""The certificate for loopback, and the kubeconfig that makes clients trust it."""

import base64
import ssl
import stat
from datetime import timedelta

import pytest
import yaml
from cryptography import x509

from setpoint.cluster.server.http.kubeconfig import write_kubeconfig
from setpoint.cluster.server.http.tls import LOOPBACK, make_certificates
from setpoint.world import real_world


def test_the_authority_signs_a_certificate_for_loopback_alone():
    world = real_world()
    made = make_certificates(world)
    ca, certificate = x509.load_pem_x509_certificate(made.ca), x509.load_pem_x509_certificate(made.certificate)
    certificate.verify_directly_issued_by(ca)
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    found = [*names.get_values_for_type(x509.DNSName), *map(str, names.get_values_for_type(x509.IPAddress))]
    assert found == list(LOOPBACK)
    assert ca.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    assert not certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca


def test_the_certificate_is_valid_by_clocks_that_differ_a_little():
    world = real_world()
    certificate = x509.load_pem_x509_certificate(make_certificates(world).certificate)
    now = world.clock.now()
    assert certificate.not_valid_before_utc <= now - timedelta(hours=12)
    assert certificate.not_valid_after_utc >= now + timedelta(days=300)


def test_every_start_has_an_authority_of_its_own():
    world = real_world()
    first, second = make_certificates(world), make_certificates(world)
    assert first.ca != second.ca
    assert first.key != second.key


def test_the_contexts_load_what_was_made():
    made = make_certificates(real_world())
    made.server_context()
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.load_verify_locations(cadata=made.ca.decode())
    (trusted,) = client.get_ca_certs()
    assert trusted["subject"] == ((("commonName", "setpoint"),),)


def written(path):
    return yaml.safe_load(path.read_text())


def test_a_kubeconfig_names_one_cluster_one_user_one_context(tmp_path):
    path = write_kubeconfig(tmp_path / "deep" / "er" / "kubeconfig", "https://127.0.0.1:1", b"PEM", "secret")
    config = written(path)
    assert config["current-context"] == "setpoint"
    assert config["clusters"][0]["cluster"] == {
        "server": "https://127.0.0.1:1",
        "certificate-authority-data": base64.b64encode(b"PEM").decode(),
    }
    assert config["users"][0]["user"] == {"token": "secret"}
    assert config["contexts"][0]["context"] == {"cluster": "setpoint", "user": "setpoint", "namespace": "default"}


def test_a_kubeconfig_is_for_its_owner_alone(tmp_path):
    path = write_kubeconfig(tmp_path / "kubeconfig", "https://127.0.0.1:1", b"PEM", "secret")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["kubeconfig"]


def test_a_kubeconfig_that_was_written_here_is_replaced(tmp_path):
    path = tmp_path / "kubeconfig"
    write_kubeconfig(path, "https://127.0.0.1:1", b"PEM", "first")
    write_kubeconfig(path, "https://127.0.0.1:2", b"PEM", "second")
    assert written(path)["users"][0]["user"] == {"token": "second"}


def test_an_empty_file_may_be_filled(tmp_path):
    path = tmp_path / "kubeconfig"
    path.touch()
    write_kubeconfig(path, "https://127.0.0.1:1", b"PEM", "secret")
    assert written(path)["kind"] == "Config"


def test_the_users_own_kubeconfig_is_left_as_it_is(tmp_path):
    path = tmp_path / "config"
    path.write_text("apiVersion: v1\nkind: Config\n")
    with pytest.raises(FileExistsError, match="is not a kubeconfig of setpoint's"):
        write_kubeconfig(path, "https://127.0.0.1:1", b"PEM", "secret")
    assert path.read_text() == "apiVersion: v1\nkind: Config\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["config"]
