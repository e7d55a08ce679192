"""`Plane`: where a server is, and its processes. `Line`: one kept connection to it, raw HTTP/1.1, so that asking costs little."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import re
import ssl
import time
from base64 import b64decode
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from benchmarks.workload import Failed

JSON = "application/json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"


@dataclass(frozen=True)
class Plane:
    """A server that runs."""

    kubeconfig: Path
    host: str
    port: int
    token: str
    tls: ssl.SSLContext
    processes: tuple[int, ...]

    @classmethod
    def of(cls, kubeconfig: Path, *processes: int) -> Plane:
        """The server of a kubeconfig with one cluster and a token."""
        config = yaml.safe_load(kubeconfig.read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        address = urlsplit(cluster["server"])
        if "certificate-authority-data" in cluster:
            tls = ssl.create_default_context(cadata=b64decode(cluster["certificate-authority-data"]).decode())
        else:
            tls = ssl.create_default_context(cafile=cluster["certificate-authority"])
        return cls(kubeconfig, address.hostname or "", address.port or 0, user["token"], tls, processes)

    @property
    def cpu(self) -> float:
        """Seconds of processor time of its processes so far."""
        return sum(cpu_of(process) for process in self.processes)

    @property
    def memory(self) -> int:
        """Resident bytes of its processes."""
        return sum(int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") for process in self.processes)

    def connection(self) -> http.client.HTTPSConnection:
        """One connection for who does one thing at a time."""
        return http.client.HTTPSConnection(self.host, self.port, context=self.tls, timeout=600)

    @property
    def headers(self) -> dict[str, str]:
        """What requests on such a connection say."""
        return {"Authorization": f"Bearer {self.token}", "Content-Type": JSON}

    async def open(self) -> Line:
        """One connection."""
        return Line(self, *await asyncio.open_connection(self.host, self.port, ssl=self.tls, limit=1 << 24))

    def head(self, method: str, path: str, length: int = 0, content_type: str = JSON) -> bytes:
        """The head of a request."""
        return (
            f"{method} {path} HTTP/1.1\r\nHost: {self.host}\r\nAuthorization: Bearer {self.token}\r\n"
            f"Accept: {JSON}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n"
        ).encode()


def cpu_of(process: int) -> float:
    """Seconds of processor time that a process has used so far, by the clock that Linux keeps of each."""
    return time.clock_gettime(~process << 3 | 2)


def peak_of(process: int) -> float:
    """The largest resident memory of a process so far, in MB."""
    found = re.search(r"VmHWM:\s*(\d+)", Path(f"/proc/{process}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


class Line:
    """One kept connection."""

    def __init__(self, plane: Plane, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.plane, self.reader, self.writer = plane, reader, writer

    async def ask(self, method: str, path: str, body: object = None, content_type: str = JSON, *, may: tuple[int, ...] = ()) -> bytes:
        """One request, and the body of its answer. Raises `Failed` for one that is neither good nor among those that `may` be."""
        content = json.dumps(body).encode() if body is not None else b""
        self.writer.write(self.plane.head(method, path, len(content), content_type) + content)
        head = await self.reader.readuntil(b"\r\n\r\n")
        if length := re.search(rb"(?i)content-length: (\d+)", head):
            got = await self.reader.readexactly(int(length[1]))
        else:
            got = await self._chunks()
        status = int(head[9:12])
        if not 200 <= status < 300 and status not in may:
            raise Failed(f"{method} {path}: {got.decode(errors='replace')}")
        return got

    async def follow(self, path: str) -> None:
        """Begins a watch, whose events are then read from `reader`, in the chunks of the body."""
        self.writer.write(self.plane.head("GET", path))
        head = await self.reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head

    def close(self) -> None:
        """Ends the connection at once."""
        self.writer.transport.abort()

    async def _chunks(self) -> bytes:
        parts: list[bytes] = []
        while size := int(await self.reader.readline(), 16):
            parts.append(await self.reader.readexactly(size))
            await self.reader.readline()
        await self.reader.readline()
        return b"".join(parts)


async def namespace(line: Line, name: str) -> None:
    """There is one of this name from now on."""
    body: dict[str, Any] = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    await line.ask("POST", "/api/v1/namespaces", body, may=(409,))
