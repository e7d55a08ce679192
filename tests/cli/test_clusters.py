"""Which cluster is meant, and what is said when it cannot be used. A cluster that was named is never passed over."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from setpoint.cli import destination
from setpoint.client import in_cluster
from setpoint.world import RealSockets

from .conftest import Cli, Write


def changed(kubeconfig: Path, **user: str) -> str:
    """A kubeconfig with other credentials, as text."""
    document = yaml.safe_load(kubeconfig.read_text())
    document["users"][0]["user"] = user
    return yaml.safe_dump(document)


def test_embedded_is_implied_only_where_there_is_nothing_else(alone: Path) -> None:
    nothing = {"HOME": str(alone)}
    assert destination.is_embedded(False, None, None, env=nothing)
    assert not destination.is_embedded(False, None, None, env={**nothing, "KUBECONFIG": "anything"})
    assert not destination.is_embedded(False, "file", None, env=nothing)
    assert not destination.is_embedded(False, None, "context", env=nothing)
    assert destination.is_embedded(True, None, None, env={**nothing, "KUBECONFIG": "anything", "KUBERNETES_SERVICE_HOST": "10.0.0.1"})
    (alone / ".kube").mkdir()
    (alone / ".kube" / "config").write_text("broken")
    assert not destination.is_embedded(False, None, None, env=nothing)


def test_in_a_pod_embedded_is_not_implied(alone: Path) -> None:
    pod = {"HOME": str(alone), "KUBERNETES_SERVICE_HOST": "10.0.0.1"}
    assert not destination.is_embedded(False, None, None, env=pod)
    assert not destination.is_embedded(False, None, None, env={**pod, "KUBECONFIG": "/etc/kubeconfig"})


@pytest.fixture
def pod(server: Path, alone: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The environment of a pod of the server's, and the folder of its service account."""
    cluster = yaml.safe_load(server.read_text())["clusters"][0]["cluster"]
    address = urlsplit(cluster["server"])
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", str(address.hostname))
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(address.port))
    folder = alone / "serviceaccount"
    folder.mkdir()
    (folder / "token").write_text(yaml.safe_load(server.read_text())["users"][0]["user"]["token"])
    (folder / "ca.crt").write_bytes(base64.b64decode(cluster["certificate-authority-data"]))
    monkeypatch.setattr(in_cluster, "SERVICE_ACCOUNT", str(folder))
    return folder


def test_in_a_pod_the_program_runs_as_its_service_account(cli: Cli, controller: Path, pod: Path) -> None:
    ended = cli("run", controller, "--metrics-bind-address", "192.0.2.1:80")  # which nobody can listen on, so that it ends
    assert ended.refusal().startswith("an endpoint cannot listen: ")
    said = [json.loads(line)["msg"] for line in ended.err.splitlines() if line.startswith("{")]
    assert any(text.startswith("In a pod, server https://127.0.0.1:") for text in said)


def test_in_a_pod_whose_token_is_refused_the_program_ends(cli: Cli, controller: Path, pod: Path) -> None:
    (pod / "token").write_text("of another cluster")
    assert cli("run", controller).refusal().startswith("the service account of this pod cannot be used: get /version: Unauthorized")


def test_in_a_pod_without_a_service_account_the_program_ends(cli: Cli, controller: Path, pod: Path) -> None:
    (pod / "token").unlink()
    assert cli("run", controller).refusal() == (
        f"this runs in a pod without the token of a service account: there is no {pod / 'token'}; set automountServiceAccountToken on the "
        "pod, or mount a kubeconfig and name it with --kubeconfig or KUBECONFIG"
    )


def test_a_broken_default_kubeconfig_is_an_error(cli: Cli, controller: Path, write: Write) -> None:
    path = write(".kube/config", "{")
    said = cli("run", controller).refusal()
    assert said.startswith(f"the kubeconfig {path} is not YAML")


def test_a_missing_kubeconfig(cli: Cli, controller: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    advice = "give another one with --kubeconfig or KUBECONFIG"
    assert cli("run", controller, "--kubeconfig", "prod").refusal() == f"there is no kubeconfig at prod: {advice}"
    monkeypatch.setenv("KUBECONFIG", "staging")
    assert cli("run", controller).refusal() == f"there is no kubeconfig at staging: {advice}"


def test_an_empty_kubeconfig(cli: Cli, controller: Path, write: Write) -> None:
    path = write("config", "")
    assert cli("run", controller, "--kubeconfig", path).refusal() == (
        f"the kubeconfig {path} is empty: write one with your cluster's tool, or point KUBECONFIG at another"
    )


def test_an_unknown_context(cli: Cli, controller: Path, server: Path) -> None:
    said = cli("run", controller, "--kubeconfig", server, "--context", "prod").refusal()
    assert said == f"{server} has no context 'prod'; there is 'setpoint'"


def test_an_unreachable_server(cli: Cli, controller: Path, server: Path, write: Write) -> None:
    with RealSockets().listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
    document = yaml.safe_load(server.read_text())
    document["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{port}"
    config = write("config", yaml.safe_dump(document))
    assert cli("run", controller, "--kubeconfig", config).refusal() == (
        f"context 'setpoint' cannot be used: get /version: https://127.0.0.1:{port} refuses connections: is the API server running, "
        "and is the address in the kubeconfig right?"
    )


def test_a_token_that_has_expired(cli: Cli, controller: Path, server: Path, write: Write) -> None:
    config = write("config", changed(server, token="expired"))
    assert cli("run", controller, "--kubeconfig", config).refusal() == (
        "context 'setpoint' cannot be used: get /version: Unauthorized (check the credentials in the kubeconfig: they may have expired)"
    )


def test_a_token_file_that_is_gone(cli: Cli, controller: Path, server: Path, write: Write) -> None:
    config = write("config", changed(server, tokenFile="token"))
    said = cli("run", controller, "--kubeconfig", config).refusal()
    assert f"the token file {config.parent / 'token'} cannot be read: No such file or directory" in said


def test_a_client_certificate_that_has_expired(cli: Cli, controller: Path, server: Path, write: Write) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name, ended = x509.Name([]), datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
    certificate = builder.not_valid_before(ended - timedelta(days=365)).not_valid_after(ended).sign(key, hashes.SHA256())
    pem = serialization.Encoding.PEM
    write("cert.pem", certificate.public_bytes(pem).decode())
    write("key.pem", key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode())
    document = yaml.safe_load(server.read_text())
    document["users"][0]["user"] = {"client-certificate": "cert.pem", "client-key": "key.pem"}
    config = write("config", yaml.safe_dump(document))
    assert cli("run", controller, "--kubeconfig", config).refusal() == (
        f"{config}: the client certificate of user 'setpoint' expired on 2026-01-02 03:04 UTC: get fresh credentials from your cluster"
    )


def test_a_server_that_is_no_kubernetes(cli: Cli, controller: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    from setpoint.api import Answer
    from setpoint.client.http import HttpTransport

    async def page(transport: object, operation: object) -> Answer:
        return Answer(status=200, body=b"<html>", content_type="text/html")

    monkeypatch.setattr(HttpTransport, "send", page)
    config = write(
        "config",
        """
        contexts: [{name: web, context: {cluster: web}}]
        clusters: [{name: web, cluster: {server: "http://127.0.0.1:80"}}]
        current-context: web
        """,
    )
    assert cli("run", controller, "--kubeconfig", config).refusal() == (
        "http://127.0.0.1:80 is no Kubernetes API server: its /version is no JSON object"
    )


@pytest.mark.parametrize("command", [["server"], ["run", "--embedded", "quiet.py"]])
def test_the_users_own_kubeconfig_is_never_written_to(cli: Cli, controller: Path, write: Write, command: list[str]) -> None:
    own = Path("~/.kube/config").expanduser()
    for text in (None, "", "apiVersion: v1\n"):
        if text is not None:
            write(".kube/config", text)
        said = cli(*command, "--write-kubeconfig", own).refusal()
        assert said == f"{own} is your own kubeconfig, which setpoint never writes to; choose another --write-kubeconfig"
        assert (own.read_text() if own.exists() else None) == text


def test_a_file_that_somebody_else_wrote_is_left_alone(cli: Cli, write: Write) -> None:
    path = write("notes", "mine\n")
    assert cli("server", "--write-kubeconfig", "notes").refusal() == (
        "notes is there, and was not written by setpoint, so it is left as it is; choose another --write-kubeconfig"
    )
    assert path.read_text() == "mine\n"


def test_a_kubeconfig_that_cannot_be_written(cli: Cli, write: Write, alone: Path) -> None:
    write(".setpoint", "a file where the folder should be")
    said = cli("server").refusal()
    assert said.startswith(f"the kubeconfig {alone / '.setpoint/kubeconfig'} cannot be written: ")
    assert said.endswith("; choose another --write-kubeconfig")
    assert cli("server", "--write-kubeconfig", ".").refusal() == (
        "the kubeconfig . cannot be written: it is a folder; choose a file with --write-kubeconfig"
    )


@pytest.mark.parametrize("command", [["server"], ["run", "--embedded", "quiet.py"]])
def test_a_port_in_use(cli: Cli, controller: Path, command: list[str]) -> None:
    with RealSockets().listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        assert cli(*command, "--port", str(port)).refusal() == (
            f"the embedded control plane cannot listen: port {port} on 127.0.0.1 is in use; choose another one, "
            "or 0 to let the system choose (--port)"
        )


@pytest.mark.parametrize("flag", ["--metrics-bind-address", "--health-probe-bind-address"])
def test_an_endpoints_port_in_use(cli: Cli, controller: Path, server: Path, flag: str) -> None:
    other = ({"--metrics-bind-address", "--health-probe-bind-address"} - {flag}).pop()
    with RealSockets().listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        said = cli("run", controller, "--kubeconfig", server, flag, f"127.0.0.1:{port}", other, "0").refusal()
    assert said.startswith(f"port {port} on 127.0.0.1 is in use; choose another one, or 0 to let the system choose (")
    assert flag in said


def test_an_endpoints_address_that_is_not_ours(cli: Cli, controller: Path, server: Path) -> None:
    said = cli("run", controller, "--kubeconfig", server, "--metrics-bind-address", "192.0.2.1:80").refusal()
    assert said.startswith("an endpoint cannot listen: ")
    assert "--metrics-bind-address" in said
