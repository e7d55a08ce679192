"""The HTTP face, called as an ASGI server calls it."""

import asyncio
import json

import pytest

from setpoint.api import ADMIN, GroupVersionResource, Identity, Operation
from setpoint.cluster.server import ApiServer, Served, watch
from setpoint.cluster.server.http.asgi import ABORT, BODY_LIMIT, CHUNK, PATIENCE, HttpFace, _chunks, warning_header
from setpoint.world import simulate

READER = Identity(user="reader")
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
JSON = {"content-type": "application/json"}


class Client:
    """One request at a time: what ASGI servers pass in, what they get."""

    def __init__(self, server, tokens=None):
        self.face = HttpFace(server, tokens)

    async def ask(self, method, target, body=b"", headers=None, parts=None):
        """Status, headers (by name; of several the last) and body of a whole answer."""
        request = [{"type": "http.request", "body": part, "more_body": True} for part in parts or []]
        request.append({"type": "http.request", "body": body, "more_body": False})
        exchange = Exchange(method, target, headers, request)
        await self.face(exchange.scope, exchange.receive, exchange.send)
        return exchange.status, exchange.headers, exchange.body


class Exchange:
    """One request that may stay open; `leave` is the client going away."""

    def __init__(self, method, target, headers=None, request=None):
        path, _, query = target.partition("?")
        self.scope = {
            "type": "http",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in (headers or {}).items()],
        }
        self.messages = request if request is not None else [{"type": "http.request", "body": b"", "more_body": False}]
        self.sent = []
        self.gone = asyncio.Event()
        self.news = asyncio.Event()

    async def receive(self):
        if not self.messages:
            await self.gone.wait()
            return {"type": "http.disconnect"}
        return self.messages.pop(0)

    async def send(self, message):
        self.sent.append(message)
        self.news.set()

    async def until(self, condition):
        while not condition(self):
            self.news.clear()
            await self.news.wait()

    @property
    def started(self):
        return bool(self.sent)

    @property
    def complete(self):
        return len(self.sent) > 1 and not self.sent[-1].get("more_body", False)

    @property
    def status(self):
        return self.sent[0]["status"]

    @property
    def headers(self):
        return {name.decode(): value.decode() for name, value in self.sent[0]["headers"]}

    @property
    def body(self):
        return b"".join(message["body"] for message in self.sent[1:])


def config_map(name, text=""):
    return json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"text": text}}).encode()


def on_a_server(main, tokens=None):
    async def run(world):
        server = ApiServer(world)
        return await main(server, Client(server, tokens))

    return simulate(run)


def test_an_object_is_created_and_read():
    async def main(server, client):
        status, headers, _ = await client.ask("POST", CONFIG_MAPS, config_map("a"), JSON)
        assert (status, headers["content-type"]) == (201, "application/json")
        status, headers, body = await client.ask("GET", f"{CONFIG_MAPS}/a")
        assert (status, json.loads(body)["metadata"]["name"]) == (200, "a")
        assert headers["cache-control"] == "no-cache, private"
        assert headers["content-length"] == str(len(body))

    on_a_server(main)


def test_a_body_in_parts_is_one_body():
    async def main(server, client):
        whole = config_map("a")
        status, _, _ = await client.ask("POST", CONFIG_MAPS, whole[20:], JSON, parts=[whole[:7], whole[7:20]])
        assert status == 201

    on_a_server(main)


def test_an_unknown_path_is_a_page_of_text():
    async def main(server, client):
        for path in ("/nope", "/apis/nope", "/openapi/v2", "//version", "/healthz/", "/apis/nope/v1/foos"):
            status, headers, body = await client.ask("GET", path)
            assert (status, body) == (404, b"404 page not found\n"), path
            assert headers["content-type"].startswith("text/plain"), path
            assert headers["x-content-type-options"] == "nosniff", path

    on_a_server(main)


def test_a_method_that_means_nothing_is_refused():
    async def main(server, client):
        refused = [
            ("PUT", CONFIG_MAPS),
            ("POST", "/version"),
            ("POST", "/api/v1"),
            ("DELETE", "/apis/apps/v1"),
            ("BREW", f"{CONFIG_MAPS}/a"),
            ("HEAD", f"{CONFIG_MAPS}/a"),
            ("OPTIONS", CONFIG_MAPS),
            ("POST", "/api/v1/watch/configmaps"),
        ]
        for method, path in refused:
            status, _, body = await client.ask(method, path)
            assert (status, json.loads(body)["reason"]) == (405, "MethodNotAllowed"), (method, path)

    on_a_server(main)


def test_what_is_not_there_is_not_found_by_any_method():
    async def main(server, client):
        for method in ("GET", "HEAD", "POST", "BREW"):
            for path in ("/nope", "/apis/nope/v1/foos", "/apis/apps/v1/foos", "/api/v1/namespaces/default/configmaps/a/status", "/api/v2"):
                assert (await client.ask(method, path))[0] == 404, (method, path)

    on_a_server(main)


def test_paths_that_are_only_read_by_habit_take_any_method():
    async def main(server, client):
        for method in ("HEAD", "OPTIONS", "POST", "PUT", "DELETE", "BREW"):
            for path in ("/livez", "/readyz/ping", "/", "/apis/apps", "/openapi/v3"):
                assert (await client.ask(method, path))[0] == 200, (method, path)

    on_a_server(main)


def test_nobody_is_anonymous():
    async def main(server, client):
        for headers in ({}, {"authorization": "Bearer nope"}, {"authorization": "Basic good"}, {"authorization": "Bearer"}):
            status, _, body = await client.ask("GET", "/api/v1/pods", headers=headers)
            assert status == 401
            assert json.loads(body) == {
                "kind": "Status",
                "apiVersion": "v1",
                "metadata": {},
                "status": "Failure",
                "message": "Unauthorized",
                "reason": "Unauthorized",
                "code": 401,
            }

    on_a_server(main, {"good": ADMIN})


def test_a_token_tells_the_server_who_asks():
    heard = []

    async def main(server, client):
        server.world.observer.subscribe(lambda event: heard.append(event.identity) if isinstance(event, Served) else None)
        status, _, _ = await client.ask("GET", "/api/v1/pods", headers={"authorization": "bearer second"})
        assert (status, heard) == (200, [READER])

    on_a_server(main, {"first": ADMIN, "second": READER})


def test_health_is_for_anybody():
    async def main(server, client):
        for path in ("/healthz", "/livez", "/readyz", "/readyz/ping"):
            assert (await client.ask("GET", path))[::2] == (200, b"ok")
        assert (await client.ask("GET", "/readyz?verbose"))[2] == b"[+]ping ok\n[+]shutdown ok\nreadyz check passed\n"
        assert (await client.ask("GET", "/livez?verbose&exclude=ping"))[2] == b"[+]ping excluded: ok\nlivez check passed\n"
        assert (await client.ask("GET", "/readyz/nope"))[0] == 404

    on_a_server(main, {"good": ADMIN})


def test_a_body_over_the_limit_is_refused():
    async def main(server, client):
        status, _, body = await client.ask("POST", CONFIG_MAPS, headers={**JSON, "content-length": str(BODY_LIMIT + 1)})
        assert (status, json.loads(body)["reason"]) == (413, "RequestEntityTooLarge")
        parts = [b" " * (BODY_LIMIT // 2)] * 2
        status, _, body = await client.ask("POST", CONFIG_MAPS, b" ", JSON, parts=parts)
        assert (status, json.loads(body)["reason"]) == (413, "RequestEntityTooLarge")

    on_a_server(main)


def test_a_client_that_goes_before_its_request_is_whole_changes_nothing():
    async def main(server, client):
        body = config_map("a")
        exchange = Exchange("POST", CONFIG_MAPS, JSON, [{"type": "http.request", "body": body, "more_body": True}])
        exchange.gone.set()
        revision = server.storage.revision
        await client.face(exchange.scope, exchange.receive, exchange.send)
        assert exchange.sent == []
        assert server.storage.revision == revision

    on_a_server(main)


def test_an_audit_id_is_echoed_or_made():
    async def main(server, client):
        assert (await client.ask("GET", "/version", headers={"audit-id": "mine"}))[1]["audit-id"] == "mine"
        first, second = [(await client.ask("GET", "/version"))[1]["audit-id"] for _ in range(2)]
        assert first != second

    on_a_server(main)


def test_a_trailing_slash_does_not_matter():
    async def main(server, client):
        for path in ("/version/", "/api/", "/apis/", "/api/v1/", "/apis/apps/v1/"):
            assert (await client.ask("GET", path))[0] == 200, path

    on_a_server(main)


def test_warnings_become_headers():
    async def main(server, client):
        body = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "wrong": 1}).encode()
        status, headers, _ = await client.ask("POST", CONFIG_MAPS, body, JSON)
        assert (status, headers["warning"]) == (201, '299 - "unknown field \\"wrong\\""')

    on_a_server(main)


def test_a_warning_cannot_break_out_of_its_header():
    assert warning_header('a "b" \\ c\r\nset-cookie: x') == b'299 - "a \\"b\\" \\\\ c  set-cookie: x"'
    assert warning_header("ü") == '299 - "ü"'.encode()


async def watching(client, target):
    exchange = Exchange("GET", target)
    task = asyncio.create_task(client.face(exchange.scope, exchange.receive, exchange.send))
    await exchange.until(lambda e: e.started)
    return exchange, task


def lines(exchange):
    body = exchange.body
    assert not body or body.endswith(b"\n")
    return [json.loads(line) for line in body.splitlines()]


def test_a_watch_answers_before_anything_happens_and_then_tells_each_change():
    async def main(server, client):
        exchange, task = await watching(client, f"{CONFIG_MAPS}?watch=1&resourceVersion={server.storage.revision}")
        assert (exchange.status, exchange.headers["content-type"], exchange.body) == (200, "application/json", b"")
        assert "content-length" not in exchange.headers
        await client.ask("POST", CONFIG_MAPS, config_map("a"), JSON)
        await client.ask("DELETE", f"{CONFIG_MAPS}/a")
        await exchange.until(lambda e: e.body.count(b"\n") == 2)
        assert [line["type"] for line in lines(exchange)] == ["ADDED", "DELETED"]
        assert not task.done()
        exchange.gone.set()
        await task

    on_a_server(main)


def test_a_watch_ends_with_its_client():
    async def main(server, client):
        exchange, task = await watching(client, f"{CONFIG_MAPS}?watch=true")
        assert len(server.hub) == 1
        exchange.gone.set()
        await task
        assert len(server.hub) == 0

    on_a_server(main)


def test_a_watch_ends_with_its_client_even_if_it_does_not_read():
    async def main(server, client):
        exchange = Exchange("GET", f"{CONFIG_MAPS}?watch=true")
        stuck = asyncio.Event()

        async def send(message):
            exchange.sent.append(message)
            if message["type"] == "http.response.body":
                await stuck.wait()

        task = asyncio.create_task(client.face(exchange.scope, exchange.receive, send))
        await client.ask("POST", CONFIG_MAPS, config_map("a"), JSON)
        exchange.gone.set()
        await task
        assert len(server.hub) == 0

    on_a_server(main)


class Stuck(Exchange):
    """A client that takes so many messages, and then only what it is told to."""

    def __init__(self, target, takes):
        super().__init__("GET", target)
        self.scope["state"] = {ABORT: self.gone.set}
        self.places = asyncio.Semaphore(takes)

    async def send(self, message):
        await self.places.acquire()
        await super().send(message)


def test_who_does_not_read_the_end_of_a_watch_is_cut_off():
    async def main(server, client):
        loop = asyncio.get_running_loop()
        exchange = Stuck(f"{CONFIG_MAPS}?watch=true&timeoutSeconds=30", takes=1)
        task = asyncio.create_task(client.face(exchange.scope, exchange.receive, exchange.send))
        await client.ask("POST", CONFIG_MAPS, config_map("a"), JSON)
        began = loop.time()
        await task
        assert exchange.gone.is_set()
        assert loop.time() - began == pytest.approx(30 + PATIENCE, abs=1)

    on_a_server(main)


def test_who_reads_the_end_of_a_watch_slowly_is_not_cut_off():
    async def main(server, client):
        exchange = Stuck(f"{CONFIG_MAPS}?watch=true&timeoutSeconds=1", takes=1)
        for number in range(8):
            await client.ask("POST", CONFIG_MAPS, config_map(f"c{number}", "x" * CHUNK), JSON)
        task = asyncio.create_task(client.face(exchange.scope, exchange.receive, exchange.send))
        while not exchange.complete:
            await asyncio.sleep(PATIENCE * 0.9)
            exchange.places.release()
        await task
        assert not exchange.gone.is_set()
        assert len(lines(exchange)) == 8

    on_a_server(main)


def test_a_watcher_that_is_dropped_for_not_reading_is_cut_off(monkeypatch):
    monkeypatch.setattr(watch, "QUEUE_LIMIT", 3)

    async def main(server, client):
        exchange = Stuck(f"{CONFIG_MAPS}?watch=true", takes=1)
        task = asyncio.create_task(client.face(exchange.scope, exchange.receive, exchange.send))
        for number in range(8):
            await client.ask("POST", CONFIG_MAPS, config_map(f"c{number}"), JSON)
            await asyncio.sleep(1)
        assert len(server.hub) == 0
        assert not task.done()
        await task
        assert exchange.gone.is_set()

    on_a_server(main)


def test_a_watch_that_the_server_ends_has_an_end():
    async def main(server, client):
        exchange, task = await watching(client, f"{CONFIG_MAPS}?watch=true&timeoutSeconds=5")
        await task
        assert exchange.complete

    on_a_server(main)


def test_all_watches_end_when_serving_ends():
    async def main(server, client):
        watches = [await watching(client, f"{CONFIG_MAPS}?watch=true") for _ in range(3)]
        await client.face.end_watches()
        for exchange, task in watches:
            await task
            assert exchange.complete
        assert len(server.hub) == 0
        assert (await client.ask("GET", "/version"))[0] == 200

    on_a_server(main)


def test_a_watch_from_too_long_ago_says_so_in_the_stream():
    async def main(server, client):
        await client.ask("POST", CONFIG_MAPS, config_map("a"), JSON)
        await client.ask("POST", CONFIG_MAPS, config_map("b"), JSON)
        server.compact()
        exchange, task = await watching(client, f"{CONFIG_MAPS}?watch=true&resourceVersion=1")
        await task
        (line,) = lines(exchange)
        assert (exchange.status, line["type"], line["object"]["code"]) == (200, "ERROR", 410)

    on_a_server(main)


def test_many_frames_go_out_in_pieces_and_stay_whole():
    frames = [b"x" * (CHUNK // 3), b"y" * (CHUNK // 2), b"z" * (CHUNK // 2), b"w" * (2 * CHUNK), b"a", b"b"]
    chunks = list(_chunks(frames))
    assert b"".join(chunks) == b"".join(frame + b"\n" for frame in frames)
    assert len(chunks) == 3
    assert list(_chunks([])) == []


def test_both_doors_lead_to_one_server():
    async def main(server, client):
        await client.ask("POST", CONFIG_MAPS, config_map("a"), JSON)
        resource = GroupVersionResource("", "v1", "configmaps")
        answer = await server.handle(Operation(verb="get", resource=resource, namespace="default", name="a"))
        assert answer.body == (await client.ask("GET", f"{CONFIG_MAPS}/a"))[2]

    on_a_server(main)


def test_nobody_is_taken_for_somebody_else():
    async def main(server, client):
        status, _, body = await client.ask("GET", CONFIG_MAPS, headers={"impersonate-user": "bob"})
        assert status == 501
        assert json.loads(body)["message"] == "impersonation is not supported by the embedded server yet"

    on_a_server(main)


def test_what_is_nested_too_deeply_to_be_walked_is_refused():
    async def main(server, client):
        schema = {"type": "object"}
        for _ in range(400):
            schema = {"type": "object", "properties": {"a": schema}}
        version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
        crd = {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "deeps.example.com"},
            "spec": {"group": "example.com", "scope": "Cluster", "names": {"plural": "deeps", "kind": "Deep"}, "versions": [version]},
        }
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        status, _, body = await client.ask("POST", path, json.dumps(crd).encode(), headers=JSON)
        assert status == 400
        assert "nested too deeply" in json.loads(body)["message"]
        assert (await client.ask("GET", f"{path}/deeps.example.com"))[0] == 404

    on_a_server(main)
