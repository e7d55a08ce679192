"""What an HTTP client costs against a real kube-apiserver: CPU of the client's process for each request and each watch event.

    pip install pyreqwest
    KUBEBUILDER_ASSETS=$(tools/envtest/build) python benchmarks/transports.py [ROUNDS [uvloop] [asyncio]]

aiohttp and pyreqwest do the same bare work; `setpoint` is Setpoint's own client on aiohttp, with its deadlines, retries, fence and errors.
Each runs in a process of its own, one after the other in each round, and the median of all rounds is printed. With TLS the server's
certificate is verified; plain HTTP goes through a relay, in another process, since the server speaks none.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import ssl
import statistics
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from setpoint.api import Operation
from setpoint.client import Config, Connection, HttpTransport, connect, load_config, verbs
from setpoint.objects import Request, Resource, Struct, kind, kind_of
from setpoint.world import real_world
from setpoint.world.loop_thread import fast_loop

CONTROL_PLANE = Path(__file__).parents[1] / "tools" / "envtest" / "control-plane"
CANDIDATES = ("aiohttp", "pyreqwest", "setpoint")
OBJECTS = 1_000
WATCHES = 20
"""Each gives an event for each object: 20,000 together."""
TARGETS = 64
CALLS = {1: 100, 64: 800}
PREFIX = "/apis/bench.example.com/v1/namespaces/default/samples"


class Spec(Struct):
    text: str = ""


class Status(Struct):
    n: int = 0


@kind(group="bench.example.com", version="v1")
class Sample(Resource[Spec, Status]):
    """About 2 KB."""


class Candidate(Protocol):
    """The same work for each."""

    async def get(self, path: str) -> bytes: ...
    async def patch(self, path: str, body: bytes) -> bytes: ...
    def lines(self, path: str) -> AsyncGenerator[list[bytes], None]: ...
    async def close(self) -> None: ...


class Aiohttp:
    """aiohttp with nothing around it."""

    def __init__(self, config: Config) -> None:
        import aiohttp

        context: Any = False
        if config.server.startswith("https"):
            context = ssl.create_default_context(cadata=(config.ca_data or b"").decode())
        self._url = config.server
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=context),
            headers={"Authorization": f"Bearer {config.token}", "Accept": "application/json", "Accept-Encoding": "identity"},
            cookie_jar=aiohttp.DummyCookieJar(),
            read_bufsize=1 << 20,
        )

    async def get(self, path: str) -> bytes:
        async with self._session.get(self._url + path) as response:
            return await response.read()

    async def patch(self, path: str, body: bytes) -> bytes:
        async with self._session.patch(self._url + path, data=body, headers={"Content-Type": "application/merge-patch+json"}) as response:
            return await response.read()

    async def lines(self, path: str) -> AsyncGenerator[list[bytes], None]:
        async with self._session.get(self._url + path) as response:
            rest = b""
            while chunk := await response.content.readany():
                *whole, rest = (rest + chunk).split(b"\n")
                yield whole

    async def close(self) -> None:
        await self._session.close()


class Pyreqwest:
    """pyreqwest with nothing around it, HTTP/1.1."""

    def __init__(self, config: Config) -> None:
        from pyreqwest.client import ClientBuilder

        builder = ClientBuilder().base_url(config.server).http1_only().no_proxy()
        builder = builder.default_headers({"Authorization": f"Bearer {config.token}", "Accept": "application/json"})
        if config.server.startswith("https"):
            builder = builder.add_root_certificate_pem(config.ca_data)
        self._client = builder.build()

    async def get(self, path: str) -> bytes:
        response = await self._client.get(path).build().send()
        return bytes(await response.bytes())

    async def patch(self, path: str, body: bytes) -> bytes:
        request = self._client.patch(path).header("Content-Type", "application/merge-patch+json").body_bytes(body).build()
        return bytes(await (await request.send()).bytes())

    async def lines(self, path: str) -> AsyncGenerator[list[bytes], None]:
        # Without this it holds events back until 64 KiB have come.
        async with self._client.get(path).streamed_read_buffer_limit(0).build_streamed() as response:
            rest = b""
            while chunk := await response.body_reader.read_chunk():
                *whole, rest = (rest + bytes(chunk)).split(b"\n")
                yield whole

    async def close(self) -> None:
        await self._client.close()


class Setpoint:
    """All that a controller's requests go through."""

    def __init__(self, config: Config) -> None:
        world = real_world()
        self._connection = Connection(HttpTransport(config, world), world)
        self._info = kind_of(Sample)

    async def get(self, path: str) -> bytes:
        return (await self._connection.call(verbs.get(self._info, Request("default", path.rpartition("/")[2])))).body

    async def patch(self, path: str, body: bytes) -> bytes:
        name = path.split("/")[-2]
        operation = Operation(
            verb="patch",
            resource=self._info.group_version_resource,
            namespace="default",
            name=name,
            subresource="status",
            body=body,
            content_type="application/merge-patch+json",
        )
        return (await self._connection.call(operation)).body

    async def lines(self, path: str) -> AsyncGenerator[list[bytes], None]:
        stream = await self._connection.watch(verbs.watch(self._info, "default", bookmarks=False))
        try:
            while (found := await stream.read()) is not None:
                yield found
        finally:
            await stream.close()

    async def close(self) -> None:
        await self._connection.close()


def cpu() -> float:
    """Seconds of this process, all its threads included."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def each(calls: int, concurrency: int, call: Callable[[int], Awaitable[bytes]]) -> float:
    """CPU microseconds of one call; each must come back with the object."""
    numbers = iter(range(calls))

    async def caller() -> None:
        for number in numbers:
            answer = await call(number)
            assert len(answer) > 2000, answer

    await asyncio.gather(*[call(number) for number in range(concurrency)])  # the connections are there
    before = cpu()
    await asyncio.gather(*[caller() for _ in range(concurrency)])
    return (cpu() - before) / calls * 1e6


async def read_events(candidate: Candidate) -> None:
    """One watch, which begins with all that there is."""
    events = 0
    async with aclosing(candidate.lines(f"{PREFIX}?watch=true")) as lines:
        async for some in lines:
            events += len(some)
            if events >= OBJECTS:
                break


async def measure(candidate: Candidate) -> dict[str, float]:
    """All figures of one candidate."""
    found: dict[str, float] = {}
    for concurrency, calls in CALLS.items():
        found[f"GET, {concurrency} at a time"] = await each(
            calls, concurrency, lambda number: candidate.get(f"{PREFIX}/sample-{number % TARGETS}")
        )
        found[f"status patch, {concurrency} at a time"] = await each(
            calls // 2,
            concurrency,
            lambda number: candidate.patch(f"{PREFIX}/sample-{number % TARGETS}/status", b'{"status":{"n":%d}}' % number),
        )
    before = cpu()
    for _ in range(WATCHES):
        await read_events(candidate)
    found["watch event"] = (cpu() - before) / (OBJECTS * WATCHES) * 1e6
    await candidate.close()
    return found


def one(name: str, loop: str, config: Config) -> None:
    """What a child process does."""
    makers: dict[str, Callable[[Config], Candidate]] = {"aiohttp": Aiohttp, "pyreqwest": Pyreqwest, "setpoint": Setpoint}

    async def main() -> dict[str, float]:
        return await measure(makers[name](config))

    with asyncio.Runner(loop_factory=fast_loop if loop == "uvloop" else asyncio.new_event_loop) as runner:
        print(json.dumps(runner.run(main())))


async def relay(server: str, ca: str) -> None:
    """Plain HTTP on a port, whose number is printed; TLS to the server."""
    parts = urlsplit(server)
    context = ssl.create_default_context(cadata=ca)

    async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(1 << 18):
                target.write(data)
                await target.drain()
        except OSError:
            pass  # one side has gone, and the other is told
        finally:
            target.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection(parts.hostname, parts.port, ssl=context)
        await asyncio.gather(copy(reader, far_writer), copy(far_reader, writer))

    listening = await asyncio.start_server(connected, "127.0.0.1", 0)
    print(listening.sockets[0].getsockname()[1], flush=True)
    await listening.serve_forever()


async def prepare(kubeconfig: str) -> None:
    """The objects."""
    from setpoint.client.install import install

    async with connect(kubeconfig, timeout=120.0) as client:
        await install(client, [Sample])
        numbers = iter(range(OBJECTS))
        text = "lorem ipsum " * 140

        async def create() -> None:
            for number in numbers:
                body = {
                    "apiVersion": "bench.example.com/v1",
                    "kind": "Sample",
                    "metadata": {"name": f"sample-{number}", "labels": {"app": f"app-{number % 100}"}},
                    "spec": {"text": text},
                }
                await client.create_raw(kind_of(Sample), "default", json.dumps(body).encode())

        await asyncio.gather(*[create() for _ in range(32)])


def main(rounds: int, loops: list[str]) -> None:
    """Prints a Markdown table."""
    with tempfile.TemporaryDirectory() as folder:
        started = subprocess.run([CONTROL_PLANE, "start", "--dir", folder], capture_output=True, text=True, check=True)
        kubeconfig = started.stdout.strip()
        relaying = None
        try:
            asyncio.run(prepare(kubeconfig))
            config = load_config(kubeconfig)
            environment = {**os.environ, "CA": (config.ca_data or b"").decode(), "TOKEN": config.token or ""}
            words = [sys.executable, __file__, "relay", config.server]
            relaying = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment)
            assert relaying.stdout is not None
            servers = {"TLS": config.server, "plain": f"http://127.0.0.1:{relaying.stdout.readline().strip()}"}
            found: dict[tuple[str, str, str], dict[str, list[float]]] = {}
            for _ in range(rounds):
                for wire, server in servers.items():
                    for loop in loops:
                        for name in CANDIDATES:
                            child = [sys.executable, __file__, "one", name, loop, server]
                            ended = subprocess.run(child, capture_output=True, text=True, env=environment, check=False, timeout=300)
                            if ended.returncode:
                                raise SystemExit(ended.stderr)
                            for what, figure in json.loads(ended.stdout).items():
                                found.setdefault((what, wire, loop), {}).setdefault(name, []).append(figure)
                            print(wire, loop, name, ended.stdout.strip(), file=sys.stderr, flush=True)
        finally:
            if relaying is not None:
                relaying.kill()
                relaying.wait()
            subprocess.run([CONTROL_PLANE, "stop", "--dir", folder], check=True)
    print("\n| CPU µs | wire | loop |", " | ".join(CANDIDATES), "|\n| --- | --- | --- |", " | ".join("---" for _ in CANDIDATES), "|")
    for (what, wire, loop), figures in sorted(found.items()):
        print(f"| {what} | {wire} | {loop} |", " | ".join(f"{statistics.median(figures[name]):.4g}" for name in CANDIDATES), "|")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["one", name, loop, server]:
            ca = os.environ["CA"].encode() if server.startswith("https") else None
            one(name, loop, Config(server=server, ca_data=ca, token=os.environ["TOKEN"]))
        case ["relay", server]:
            asyncio.run(relay(server, os.environ["CA"]))
        case words:
            main(int(words[0]) if words else 5, words[1:] or ["uvloop", "asyncio"])
