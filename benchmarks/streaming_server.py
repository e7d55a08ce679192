"""A synthetic server that streams: one kind over TLS, its WatchList answer made up once, so that nothing but the client is measured.

    python benchmarks/streaming_server.py --objects 50000 --dir FOLDER

Writes `FOLDER/kubeconfig`, prints its path once it listens, and serves until its standard input ends. Each event is a chunk of its own and
goes out in TLS records of some kilobytes, as a kube-apiserver sends it. Whatever else a manager asks for at its start is answered as a
server would that has this one kind and lets everybody do everything; there is no writing.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import random
import signal
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

GROUP, PLURAL = "bench.setpoint.dev", "widgets"
RECORD = 4096
"""Bytes of a TLS record: what Go's HTTP server hands to its TLS layer at once."""
FIRST_VERSION = 1000


def widget(number: int, chance: random.Random) -> bytes:
    """A custom resource of about 2 KB, in the shape of `controller_runtime/types.go`, as a server writes it: keys in their order."""
    at = "2026-01-01T00:00:00Z"
    fields: dict[str, dict[str, str]] = {
        f"f:{name}": {} for name in ("displayName", "image", "replicas", "env", "ports", "labels", "selector", "args")
    }
    return json.dumps(
        {
            "apiVersion": f"{GROUP}/v1",
            "kind": "Widget",
            "metadata": {
                "creationTimestamp": at,
                "generation": 1,
                "labels": {"app.kubernetes.io/name": f"app-{number % 200}", "app.kubernetes.io/managed-by": "bench"},
                "managedFields": [
                    {
                        "apiVersion": f"{GROUP}/v1",
                        "fieldsType": "FieldsV1",
                        "fieldsV1": {"f:spec": fields},
                        "manager": "bench",
                        "operation": "Update",
                        "time": at,
                    },
                ],
                "name": f"widget-{number:06}",
                "namespace": f"team-{number % 10}",
                "resourceVersion": str(FIRST_VERSION + number),
                "uid": f"{chance.getrandbits(128):032x}",
            },
            "spec": {
                "displayName": f"Widget number {number}",
                "description": f"Says what it is for: {chance.getrandbits(256):x}",
                "image": f"registry.example.com/team/app:{chance.getrandbits(40):x}",
                "imagePullPolicy": "IfNotPresent",
                "replicas": number % 10,
                "priority": number % 100,
                "revision": number,
                "tier": "backend",
                "region": "eu-central-1",
                "owner": f"team-{number % 10}",
                "schedule": "*/5 * * * *",
                "timeoutSeconds": 30,
                "ratio": "0.75",
                "labels": {"app": f"app-{number % 200}", "tier": "backend"},
                "args": ["--verbose", f"--shard={number % 16}", "--config=/etc/app/config.yaml"],
                "env": [{"name": f"SETTING_{i}", "value": f"{chance.getrandbits(64):016x}"} for i in range(8)],
                "ports": [{"name": "http", "port": 80, "protocol": "TCP", "targetPort": 8080}],
                "resources": {"limits": {"cpu": "1", "memory": "512Mi"}, "requests": {"cpu": "100m", "memory": "128Mi"}},
                "strategy": {"maxSurge": 1, "type": "RollingUpdate"},
                "probe": {"path": "/healthz", "periodSeconds": 10, "port": 8080},
                "selector": {"app": f"app-{number % 200}"},
            },
            "status": {
                "conditions": [
                    {
                        "lastTransitionTime": at,
                        "message": "all replicas are up to date",
                        "reason": "AsExpected",
                        "status": "True",
                        "type": t,
                    }
                    for t in ("Ready", "Available")
                ],
                "observedGeneration": 1,
                "phase": "Running",
                "readyReplicas": number % 10,
            },
        },
        separators=(",", ":"),
    ).encode()


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


class Answers:
    """What the server says, made up once for so many objects."""

    def __init__(self, objects: int) -> None:
        chance = random.Random(1)
        self.items = [widget(number, chance) for number in range(objects)]
        self.version = FIRST_VERSION + objects
        stream = bytearray()
        for item in self.items:
            stream += _chunk(b'{"type":"ADDED","object":%b}\n' % item)
        marks = {"k8s.io/initial-events-end": "true"}
        metadata = {"annotations": marks, "creationTimestamp": None, "resourceVersion": str(self.version)}
        bookmark = {"apiVersion": f"{GROUP}/v1", "kind": "Widget", "metadata": metadata}
        stream += _chunk(b'{"type":"BOOKMARK","object":%b}\n' % json.dumps(bookmark, separators=(",", ":")).encode())
        self.stream = bytes(stream)

    @property
    def size(self) -> float:
        """Bytes of an object, on average."""
        return sum(map(len, self.items)) / max(len(self.items), 1)

    def page(self, query: dict[str, list[str]]) -> bytes:
        """A page of the list."""
        limit, start = int(query.get("limit", ["0"])[0]) or len(self.items), int(query.get("continue", ["0"])[0])
        end = start + limit
        metadata = {"resourceVersion": str(self.version)} | ({"continue": str(end)} if end < len(self.items) else {})
        head = json.dumps({"apiVersion": f"{GROUP}/v1", "kind": "WidgetList", "metadata": metadata}, separators=(",", ":")).encode()
        return head[:-1] + b',"items":[' + b",".join(self.items[start:end]) + b"]}"

    def document(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        """Code and body of everything else."""
        resource = {"name": PLURAL, "singularName": "widget", "namespaced": True, "kind": "Widget", "verbs": ["get", "list", "watch"]}
        version = {"groupVersion": f"{GROUP}/v1", "version": "v1"}
        group = {"name": GROUP, "versions": [version], "preferredVersion": version}
        documents = {
            "/version": {"major": "1", "minor": "37", "gitVersion": "v1.37.0"},
            "/api": {"kind": "APIVersions", "versions": ["v1"]},
            "/api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": []},
            "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": [group]},
            f"/apis/{GROUP}/v1": {
                "kind": "APIResourceList",
                "apiVersion": "v1",
                "groupVersion": f"{GROUP}/v1",
                "resources": [resource, resource | {"name": f"{PLURAL}/status"}],
            },
        }
        if method == "POST" and path.endswith("accessreviews"):
            return 201, json.dumps(json.loads(body) | {"status": {"allowed": True}}).encode()
        if (found := documents.get(path)) is not None:
            return 200, json.dumps(found).encode()
        status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404, "message": f"no {path}"}
        return 404, json.dumps(status).encode()


class _Connection(threading.Thread):
    """One client's connection; a watch keeps it until the client leaves."""

    def __init__(self, connection: socket.socket, context: ssl.SSLContext, answers: Answers) -> None:
        super().__init__(daemon=True)
        self._raw, self._context, self._answers = connection, context, answers

    def run(self) -> None:
        # A client that has what it wanted goes without taking leave.
        with contextlib.suppress(OSError), self._context.wrap_socket(self._raw, server_side=True) as self._socket:
            self._reader = self._socket.makefile("rb")
            while request := self._reader.readline().decode():
                method, target, _ = request.split()
                headers = dict(self._headers())
                body = self._reader.read(int(headers.get("content-length", 0)))
                self._answer(method, target, body)

    def _headers(self) -> Iterator[tuple[str, str]]:
        while line := self._reader.readline().decode().strip():
            name, _, value = line.partition(":")
            yield name.lower(), value.strip()

    def _answer(self, method: str, target: str, body: bytes) -> None:
        url = urlsplit(target)
        query = parse_qs(url.query)
        if url.path != f"/apis/{GROUP}/v1/{PLURAL}":
            self._say(*self._answers.document(method, url.path, body))
        elif "watch" not in query:
            self._say(200, self._answers.page(query))
        else:
            self._socket.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
            if "sendInitialEvents" in query:
                stream = memoryview(self._answers.stream)
                for start in range(0, len(stream), RECORD):
                    self._socket.sendall(stream[start : start + RECORD])
            self._reader.read(1)  # until it leaves

    def _say(self, code: int, body: bytes) -> None:
        head = f"HTTP/1.1 {code} X\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        self._socket.sendall(head.encode() + body)


def _certificate(folder: Path) -> tuple[Path, Path]:
    """A key and a certificate for the loopback address, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "streaming-server")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "server.crt").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "server.key").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return folder / "server.crt", folder / "server.key"


def serve(folder: Path, objects: int) -> None:
    """Serves until standard input ends."""
    answers = Answers(objects)
    certificate, key = _certificate(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    listener = socket.create_server(("127.0.0.1", 0))
    cluster = {"server": f"https://localhost:{listener.getsockname()[1]}", "certificate-authority": str(certificate)}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "bench", "cluster": cluster}],
        "users": [{"name": "bench", "user": {"token": "bench"}}],
        "contexts": [{"name": "bench", "context": {"cluster": "bench", "user": "bench"}}],
        "current-context": "bench",
    }
    (folder / "kubeconfig").write_text(yaml.safe_dump(config))

    def accept() -> None:
        while True:
            _Connection(listener.accept()[0], context, answers).start()

    threading.Thread(target=accept, daemon=True).start()
    print(folder / "kubeconfig", f"{answers.size:.0f}", flush=True)
    sys.stdin.read()


@contextmanager
def streaming_server(folder: Path, objects: int) -> Iterator[Path]:
    """The server as a process of its own, while the block runs; gives its kubeconfig."""
    command = [sys.executable, __file__, "--objects", str(objects), "--dir", str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        said = process.stdout.readline().split()
        if not said:
            raise RuntimeError("the streaming server did not start")
        try:
            yield Path(said[0])
        finally:
            process.stdin.close()
            process.wait(10)


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, default=10_000)
    parser.add_argument("--dir", type=Path, required=True)
    asked = parser.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with its standard input
    serve(asked.dir, asked.objects)


if __name__ == "__main__":
    main()
