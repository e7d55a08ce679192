"""What a program's use of the network costs and leaves: connections, patience, proxies, compression."""

import asyncio
import gc
import gzip
import json
import os

import pytest

from setpoint.api import Operation
from setpoint.client import Client, Config, ConfigError, Connection, HttpTransport, errors
from setpoint.client.proxy import proxy_of
from setpoint.objects import Request
from setpoint.world import real_world, simulate

from .http_server import PODS, READ, WATCH, Server, answering, certificate, chunked, pem, server_context
from .kubelet import Kubelet, waits
from .servers import Script, WebApp, client_of, no, ok, webapp_content


def connection_to(url: str, **options) -> Connection:
    world = real_world()
    return Connection(HttpTransport(Config(server=url, **options), world), world)


class Counting(Server):
    """Knows how many connections there were at most at a time."""

    peak = 0

    async def _connected(self, reader, writer):
        self.peak = max(self.peak, len(self._connections) + 1)
        try:
            await super()._connected(reader, writer)
        finally:
            self._connections.pop(asyncio.current_task(), None)


def test_five_thousand_requests_by_two_hundred_callers_take_no_more_connections_than_may_be_in_flight():
    async def main():
        async with Counting(answering(b"{}")) as server:
            connection = connection_to(server.url)

            async def caller():
                for _ in range(25):
                    await connection.call(READ)

            await asyncio.gather(*[caller() for _ in range(200)])
            await connection.close()
            return len(server.requests), server.peak

    requests, peak = asyncio.run(main())
    assert requests == 5000
    assert 2 <= peak <= 100


def test_a_hundred_status_patches_are_under_way_at_once():
    """No budget of requests per second stands between a controller and the server: kedacore/keda#7613."""

    async def main():
        arrived, go = 0, asyncio.Event()

        async def respond(server, writer):
            nonlocal arrived
            arrived += 1
            if arrived == 100:
                go.set()
            await go.wait()  # answered only once all have come: with a throttle they would never
            body = json.dumps(webapp_content()).encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

        async with Server(respond) as server, asyncio.timeout(30):
            connection = connection_to(server.url)
            client = Client(connection)
            patch = {"status": {"readyReplicas": 1}}
            await asyncio.gather(*[client.patch(WebApp, Request("default", f"w{n}"), patch, subresource="status") for n in range(100)])
            await connection.close()

    asyncio.run(main())


def test_nothing_is_open_or_running_after_close(tmp_path, authority):
    """Requests, watches in the middle of a frame, logs and programs, with and without TLS."""

    def open_files() -> int:
        gc.collect()
        return len(os.listdir("/proc/self/fd"))

    async def main():
        ca, _ = pem(authority)
        context = server_context(tmp_path, certificate("server", issuer=authority))
        loop = asyncio.get_running_loop()
        async with Server(answering(b"{}"), context) as secure, Server(chunked(b'{"half', end=False)) as plain, Kubelet(waits) as kubelet:

            async def use() -> None:
                connections = [connection_to(secure.url, ca_data=ca), connection_to(plain.url), connection_to(kubelet.url)]
                await asyncio.gather(*[connections[0].call(READ) for _ in range(20)])
                await connections[1].watch(WATCH)
                await Client(connections[2], namespace="default").exec("web", ["sleep"]).__aenter__()
                never = asyncio.ensure_future(anext(Client(connections[1], namespace="default").logs("web", follow=True)))
                await asyncio.sleep(0)
                for connection in connections:
                    await connection.close()
                await asyncio.gather(never, return_exceptions=True)

            async def ours() -> list[str]:
                for _ in range(50):  # the servers' own tasks end when they have read the end
                    await asyncio.sleep(0.01)
                    if len(asyncio.all_tasks(loop)) == 1:
                        break
                return [str(task) for task in asyncio.all_tasks(loop) if task is not asyncio.current_task()]

            await use()
            await ours()
            before = open_files()
            for _ in range(3):
                await use()
            left = await ours()
            return before, open_files(), left

    before, after, left = asyncio.run(main())
    assert left == []
    assert after == before


def test_answers_come_compressed_unless_that_is_not_wanted():
    async def main():
        body = b'{"items":' + b"[]" * 1000 + b"}"

        async def respond(server, writer):
            wanted = "accept-encoding: gzip" in server.requests[-1].lower()
            data = gzip.compress(body) if wanted else body
            encoding = b"Content-Encoding: gzip\r\n" if wanted else b""
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n%b\r\n" % (len(data), encoding) + data)

        async with Server(respond) as server:
            for options in ({}, {"disable_compression": True}):
                connection = connection_to(server.url, **options)
                assert (await connection.call(READ)).body == body
                await connection.close()
            return ["gzip" in request for request in server.requests]

    assert asyncio.run(main()) == [True, False]


# ---- proxies


def through(monkeypatch, server: str, **env: str) -> str | None:
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    return proxy_of(Config(server=server))


def test_the_proxy_of_the_environment_is_taken_unless_it_is_told_not_to(monkeypatch):
    proxy = "http://proxy:3128"
    assert through(monkeypatch, "https://kube.example.com:6443", HTTPS_PROXY=proxy) == proxy
    assert through(monkeypatch, "https://kube.example.com:6443", HTTP_PROXY=proxy) is None
    assert through(monkeypatch, "https://kube.example.com:6443", HTTPS_PROXY=proxy, NO_PROXY="other.org, .example.com") is None
    assert through(monkeypatch, "https://10.96.0.1:443", HTTPS_PROXY=proxy, NO_PROXY="10.0.0.0/8,localhost") is None
    assert through(monkeypatch, "https://11.96.0.1:443", HTTPS_PROXY=proxy, NO_PROXY="10.0.0.0/8,fd00::/8") == proxy
    assert through(monkeypatch, "https://[fd00::1]:443", HTTPS_PROXY=proxy, NO_PROXY="10.0.0.0/8,fd00::/8") is None
    assert through(monkeypatch, "https://127.0.0.1:6443", HTTPS_PROXY=proxy) is None
    assert through(monkeypatch, "https://kube.example.com", HTTPS_PROXY="proxy:3128") == proxy


def test_a_proxy_that_the_configuration_names_is_always_taken(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "*")
    assert proxy_of(Config(server="https://127.0.0.1:6443", proxy_url="http://proxy:1")) == "http://proxy:1"


def test_a_proxy_that_is_not_spoken_is_said_at_once(monkeypatch):
    with pytest.raises(ConfigError, match="is a socks5 proxy, and only http and https ones are supported"):
        connection_to("https://kube.example.com", proxy_url="socks5://proxy:1080")
    with pytest.raises(ConfigError, match="HTTPS_PROXY of the environment names is a socks5h proxy"):
        through(monkeypatch, "https://kube.example.com", HTTPS_PROXY="socks5h://proxy:1080")


def test_tls_goes_through_a_proxy_as_a_tunnel(tmp_path, authority):
    async def main():
        ca, _ = pem(authority)
        context = server_context(tmp_path, certificate("kube.invalid", issuer=authority))
        asked = []

        async def tunnel(reader, writer):
            asked.append((await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")[0])
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")

            async def copy(source, target):
                while data := await source.read(65536):
                    target.write(data)
                target.close()

            await asyncio.gather(copy(reader, far_writer), copy(far_reader, writer))

        async with Server(answering(b"{}"), context) as server:
            proxy = await asyncio.start_server(tunnel, "127.0.0.1", 0)
            address = f"http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}"
            connection = connection_to("https://kube.invalid:6443", ca_data=ca, proxy_url=address)
            answer = await connection.call(READ)
            await connection.close()
            proxy.close()
            await proxy.wait_closed()
            await asyncio.sleep(0.05)
            return answer.status, asked

    assert asyncio.run(main()) == (200, [b"CONNECT kube.invalid:6443 HTTP/1.1"])


# ---- what is remembered


def test_a_kind_that_is_no_longer_served_is_looked_for_anew():
    """Its definition may come back with another plural or scope."""

    def resources(plural: str):
        entry = {"name": plural, "kind": "Toy", "namespaced": True, "verbs": ["get"]}
        return ok({"resources": [entry]})

    manifest = {"apiVersion": "example.com/v1", "kind": "Toy", "metadata": {"name": "a", "namespace": "default"}}
    script = Script(
        resources("toys"),
        ok(manifest),
        no(404, "NotFound", "the server could not find the requested resource"),
        resources("toyz"),
        ok(manifest),
    )

    async def main(world):
        client = client_of(script, world)
        await client.apply(manifest)
        with pytest.raises(errors.NotServed):
            await client.apply(manifest)
        await client.apply(manifest)

    simulate(main)
    assert [operation.path or operation.resource.resource for operation in script.sent] == [
        "/apis/example.com/v1",
        "toys",
        "toys",
        "/apis/example.com/v1",
        "toyz",
    ]


def test_a_list_whose_token_expires_between_pages_gives_nothing_twice_and_nothing_half():
    names = ["a", "b", "c"]

    def page(found, more="", version="9"):
        items = [{"metadata": {"name": name, "namespace": "default", "uid": f"u-{name}"}, "spec": {"image": version}} for name in found]
        return ok({"metadata": {"resourceVersion": version, "continue": more}, "items": items})

    script = Script(page(names[:2], more="t"), no(410, "Expired", "the provided continue parameter is too old"), page(names, version="12"))

    async def main(world):
        return await client_of(script, world).list(WebApp, limit=2)

    found = simulate(main)
    assert [(obj.name, obj.spec.image) for obj in found] == [("a", "12"), ("b", "12"), ("c", "12")]
    assert [operation.options.get("continue") for operation in script.sent] == [None, "t", None]


def test_operations_whose_words_repeat_keep_their_order():
    from setpoint.api.paths import to_http

    operation = Operation(verb="create", resource=PODS, name="x", options={"a": "b"}, arguments=(("command", "sh"), ("command", "-c")))
    assert to_http(operation)[1] == "/api/v1/pods/x?a=b&command=sh&command=-c"
