"""Listening for real: HTTPS on loopback, from a thread with a loop of its own."""

import asyncio
import contextlib
import http.client
import json
import socket
import ssl

import pytest

from setpoint.api import ADMIN
from setpoint.cluster.server import ApiServer
from setpoint.cluster.server.http.serving import serve
from setpoint.world import PortInUse, real_world
from setpoint.world.loop_thread import LoopThread

NAMESPACES = "/api/v1/namespaces"
TOKENS = {"token": ADMIN}


@contextlib.asynccontextmanager
async def server(**options):
    world = real_world()
    async with serve(ApiServer(world), world, tokens=TOKENS, **options) as address:
        yield address


@pytest.fixture
def address():
    with LoopThread("test-server") as thread, thread.hold(server) as address:
        yield address


def trusting(address):
    return ssl.create_default_context(cadata=address.ca_pem.decode())


@contextlib.contextmanager
def connection(address, host="127.0.0.1"):
    with contextlib.closing(http.client.HTTPSConnection(host, address.port, context=trusting(address))) as opened:
        yield opened


def ask(opened, method, path, body=None, token="token"):
    opened.request(method, path, body, {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
    response = opened.getresponse()
    return response.status, response.read()


def namespace(name):
    return json.dumps({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})


def test_objects_are_read_and_written_on_one_connection(address):
    assert address.url == f"https://127.0.0.1:{address.port}"
    with connection(address) as opened:
        assert ask(opened, "POST", NAMESPACES, namespace("a"))[0] == 201
        status, body = ask(opened, "GET", f"{NAMESPACES}/a")
        assert (status, json.loads(body)["metadata"]["name"]) == (200, "a")
        assert ask(opened, "GET", f"{NAMESPACES}/b")[0] == 404
        assert ask(opened, "GET", f"{NAMESPACES}/a", token="nope")[0] == 401


def test_the_certificate_is_for_localhost_too(address):
    with connection(address, "localhost") as opened:
        assert ask(opened, "GET", "/healthz") == (200, b"ok")


def test_a_client_that_trusts_others_is_not_served(address):
    opened = http.client.HTTPSConnection("127.0.0.1", address.port, context=ssl.create_default_context())
    with contextlib.closing(opened), pytest.raises(ssl.SSLCertVerificationError):
        opened.request("GET", "/healthz")


def test_a_watch_tells_of_each_change_when_it_happens(address):
    with connection(address) as watching, connection(address) as writing:
        watching.request("GET", f"{NAMESPACES}?watch=true&fieldSelector=metadata.name%3Da", headers={"Authorization": "Bearer token"})
        response = watching.getresponse()
        assert (response.status, response.headers["Content-Type"]) == (200, "application/json")
        ask(writing, "POST", NAMESPACES, namespace("a"))
        event = json.loads(response.readline())
        assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "a")
        response.close()


def test_the_end_of_serving_is_a_clean_end_for_watches_and_idle_connections():
    with LoopThread("test-server") as thread, contextlib.ExitStack() as clients:
        with thread.hold(server) as address:
            watching, idle = (clients.enter_context(connection(address)) for _ in range(2))
            assert ask(idle, "GET", "/healthz")[0] == 200
            watching.request("GET", f"{NAMESPACES}?watch=true&resourceVersion=1", headers={"Authorization": "Bearer token"})
            response = watching.getresponse()
            while json.loads(response.readline())["object"]["metadata"]["name"] != "kube-node-lease":
                pass
        # A chunked body without its end would raise IncompleteRead here.
        assert response.read() == b""
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", address.port))


def test_nothing_is_left_behind():
    async def main():
        world = real_world()
        api = ApiServer(world)
        async with serve(api, world) as address:
            reader, writer = await asyncio.open_connection("127.0.0.1", address.port, ssl=trusting(address))
            request = f"GET {NAMESPACES}?watch=true HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {address.token}\r\n\r\n"
            writer.write(request.encode())
            assert (await reader.readline()) == b"HTTP/1.1 200 OK\r\n"
            assert len(api.hub) == 1
        assert len(api.hub) == 0
        writer.close()
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            await writer.wait_closed()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


def test_a_watch_does_not_outlive_its_connection():
    async def main():
        world = real_world()
        api = ApiServer(world)
        async with serve(api, world, tokens=TOKENS) as address:
            reader, writer = await asyncio.open_connection("127.0.0.1", address.port, ssl=trusting(address))
            writer.write(f"GET {NAMESPACES}?watch=true HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer token\r\n\r\n".encode())
            await reader.readline()
            (watcher,) = api.hub._watchers["/namespaces"]
            closed = asyncio.Event()
            end, watcher.end = watcher.end, lambda: (end(), closed.set())
            writer.transport.abort()
            await closed.wait()
            assert len(api.hub) == 0

    asyncio.run(main())


def test_a_port_in_use_is_named(address):
    refused = pytest.raises(PortInUse, match=f"port {address.port} on 127.0.0.1 is in use")
    with LoopThread("second") as thread, refused, thread.hold(lambda: server(port=address.port)):
        pass


def test_it_does_not_listen_beyond_loopback():
    with LoopThread("test-server") as thread:
        for host in ("0.0.0.0", "::", "192.0.2.1", "example.com"):
            with pytest.raises(ValueError, match="loopback interface alone"), thread.hold(lambda host=host: server(host=host)):
                pass


def test_a_port_is_free_again_after_the_end():
    with LoopThread("test-server") as thread:
        with thread.hold(server) as first, connection(first) as opened:
            assert ask(opened, "GET", "/healthz")[0] == 200
        with thread.hold(lambda: server(port=first.port)) as second, connection(second) as opened:
            assert ask(opened, "GET", "/healthz")[0] == 200
