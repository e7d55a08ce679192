"""An HTTP server for tests that can be as bad as one likes, and certificates for it."""

import asyncio
import contextlib
import datetime
import gc
import ipaddress
import socket
import ssl

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from setpoint.api import GroupVersionResource, Operation
from setpoint.client import Config, HttpTransport
from setpoint.world import real_world

PODS = GroupVersionResource("", "v1", "pods")
READ = Operation(verb="get", resource=PODS, namespace="default", name="x")
DELETE = Operation(verb="delete", resource=PODS, namespace="default", name="x")
WATCH = Operation(verb="watch", resource=PODS, options={"resourceVersion": "5"})


class Server:
    """Reads whole requests, and leaves it to a function what comes back."""

    def __init__(self, respond, context=None):
        self.respond = respond
        self.context = context
        self.requests: list[str] = []
        self._connections: dict[asyncio.Task, asyncio.StreamWriter] = {}

    async def _connected(self, reader, writer):
        self._connections[asyncio.current_task()] = writer
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                for line in head.lower().split("\r\n"):
                    if line.startswith("content-length:"):
                        await reader.readexactly(int(line.partition(":")[2]))
                self.requests.append(head)
                await self.respond(self, writer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            pass
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError, ssl.SSLError):
                await writer.wait_closed()

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, ssl=self.context)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"{'https' if self.context else 'http'}://127.0.0.1:{self.port}"
        return self

    async def __aexit__(self, *_):
        self._server.close()
        for writer in self._connections.values():
            writer.close()
        await asyncio.gather(*self._connections)
        await self._server.wait_closed()


def answering(body: bytes, status: str = "200 OK", headers: str = ""):
    async def respond(server, writer):
        writer.write(f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n{headers}\r\n".encode() + body)

    return respond


def chunked(*chunks: bytes, end: bool = True):
    async def respond(server, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        for chunk in chunks:
            writer.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
        if end:
            writer.write(b"0\r\n\r\n")
        else:
            writer.close()

    return respond


async def reset(server, writer):
    """Ends the connection with an RST."""
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    writer.transport.abort()


def http(respond, act, context=None, **options):
    """Runs `act(transport, server)` against a server that responds so; nothing may be left open."""

    async def main():
        async with Server(respond, context) as server:
            transport = HttpTransport(Config(server=server.url, **options), real_world())
            try:
                return await act(transport, server)
            finally:
                await transport.close()

    result = asyncio.run(main())
    gc.collect()
    return result


async def send_read(transport, server):
    return await transport.send(READ)


def authorization(request: str) -> str:
    return next((line.partition(": ")[2] for line in request.split("\r\n") if line.startswith("Authorization")), "")


def certificate(name: str, *, issuer=None, days: int = 1, address: str = "127.0.0.1", ca: bool = False):
    """A certificate and its key, both PEM; `issuer` is such a pair of objects, None for one that signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    signer, signing_key = (subject, key) if issuer is None else (issuer[0].subject, issuer[1])
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(signer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=10))
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address)), x509.DNSName(name)]), critical=False)
    )
    return builder.sign(signing_key, hashes.SHA256()), key


def pem(pair) -> tuple[bytes, bytes]:
    cert, key = pair
    plain = serialization.NoEncryption()
    return (
        cert.public_bytes(serialization.Encoding.PEM),
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain),
    )


def server_context(tmp_path, pair, client_ca: bytes | None = None) -> ssl.SSLContext:
    cert, key = pem(pair)
    (tmp_path / "server.crt").write_bytes(cert)
    (tmp_path / "server.key").write_bytes(key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.crt", tmp_path / "server.key")
    if client_ca is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(cadata=client_ca.decode())
    return context
