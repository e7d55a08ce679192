"""What the HTTP face makes of headers and forms. Expectations are a real server's answers."""

import asyncio
import gzip
import json
import re

import pytest
import yaml
from tests.server.test_http import CONFIG_MAPS, JSON, Exchange, config_map, on_a_server

from setpoint.api import ADMIN, Identity
from setpoint.cluster.server.http.asgi import HttpFace
from setpoint.cluster.server.http.auth import read_tokens
from setpoint.cluster.server.http.deadlines import LONGEST_WRITE
from setpoint.cluster.server.http.rendering import PACKED_FROM
from setpoint.cluster.server.http.request_log import line

AUTHORIZED = {"authorization": "Bearer good"}


@pytest.mark.parametrize(
    ("accept", "status", "form"),
    [
        ("*/*", 200, "application/json"),
        ("application/json;q=0", 200, "application/json"),
        ("application/json;q=abc", 200, "application/json"),
        ("text/html;q=0.9,*/*;q=0.1", 200, "application/json"),
        ("application/xml, application/yaml;q=0.5", 200, "application/yaml"),
        ("application/yaml;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", 200, "application/yaml"),
        ("application/*", 406, "application/json"),
        ("APPLICATION/JSON", 406, "application/json"),
        ("text/html", 406, "application/json"),
        ("application/json;g=meta.k8s.io;v=v1", 406, "application/json"),
        ("application/json;as=Table;g=meta.k8s.io;v=v2", 406, "application/json"),
    ],
)
def test_what_a_client_accepts_decides_the_form(accept, status, form):
    async def main(server, client):
        await client.ask("POST", CONFIG_MAPS, config_map("a"), JSON)
        found, headers, body = await client.ask("GET", f"{CONFIG_MAPS}/a", headers={"accept": accept})
        assert (found, headers["content-type"]) == (status, form)
        read = yaml.safe_load(body) if form == "application/yaml" else json.loads(body)
        assert read.get("reason") == (None if status == 200 else "NotAcceptable")

    on_a_server(main)


def test_errors_come_in_the_form_that_was_asked_for():
    async def main(server, client):
        status, headers, body = await client.ask("GET", f"{CONFIG_MAPS}/nope", headers={"accept": "application/yaml"})
        assert (status, headers["content-type"]) == (404, "application/yaml")
        assert yaml.safe_load(body)["reason"] == "NotFound"
        status, headers, _ = await client.ask("GET", f"{CONFIG_MAPS}?watch=1", headers={"accept": "application/yaml"})
        assert status == 406

    on_a_server(main)


def test_json_is_indented_for_people():
    async def main(server, client):
        target = "/api/v1/namespaces/default"
        for query, agent, indented in (
            ("", "curl/8", True),
            ("", "x", False),
            ("?pretty=1", "x", True),
            ("?pretty=false", "curl/8", False),
        ):
            _, _, body = await client.ask("GET", target + query, headers={"user-agent": agent})
            assert (b'{\n  "apiVersion"' in body) is indented, (query, agent)

    on_a_server(main)


def test_a_long_answer_is_packed_for_who_can_unpack_it():
    async def main(server, client):
        large = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "x" * PACKED_FROM}}
        await client.ask("POST", CONFIG_MAPS, json.dumps(large).encode(), JSON)
        for accepted, is_packed in (("gzip", True), ("br, gzip", True), ("GZIP", False), ("gzip;q=0", False), ("*", False)):
            _, headers, body = await client.ask("GET", f"{CONFIG_MAPS}/a", headers={"accept-encoding": accepted})
            assert (headers.get("content-encoding"), headers.get("vary")) == (("gzip", "Accept-Encoding") if is_packed else (None, None))
            assert json.loads(gzip.decompress(body) if is_packed else body)["data"] == large["data"]
        _, headers, _ = await client.ask("GET", "/api/v1/namespaces/default", headers={"accept-encoding": "gzip"})
        assert "content-encoding" not in headers

    on_a_server(main)


@pytest.mark.parametrize(
    ("timeout", "said"),
    [
        ("1s", ""), ("0", ""), ("-1s", ""), (".5s", ""), ("1h2m", ""), ("100h", ""), ("", ""),
        ("abc", 'invalid duration "abc"'), ("1", 'missing unit in duration "1"'), ("1x", 'unknown unit "x" in duration "1x"'),
        ("-", 'invalid duration "-"'), ("99999999h", 'invalid duration "99999999h"'), ("1e3s", 'unknown unit "e" in duration "1e3s"'),
    ],
)  # fmt: skip
def test_a_timeout_is_a_duration(timeout, said):
    async def main(server, client):
        status, _, body = await client.ask("GET", f"/api/v1/namespaces/default?timeout={timeout}")
        assert status == (400 if said else 200)
        if said:
            assert json.loads(body)["message"] == f"invalid timeout specified in the request URL - time: {said}"

    on_a_server(main)


def test_a_body_that_does_not_come_holds_nobody_up():
    async def main(server, client):
        exchange = Exchange("POST", CONFIG_MAPS, JSON, [{"type": "http.request", "body": b"{", "more_body": True}])
        loop = asyncio.get_running_loop()
        began = loop.time()
        await client.face(exchange.scope, exchange.receive, exchange.send)
        assert (exchange.status, loop.time() - began) == (504, LONGEST_WRITE)
        assert exchange.headers["connection"] == "close"

    on_a_server(main)


@pytest.mark.parametrize(
    ("authorization", "closed", "open_"),
    [
        ("Bearer good", 200, 200), ("bearer good", 200, 200), ("Bearer good x", 200, 200), (" Bearer good", 200, 200),
        ("Bearer bad", 401, 401), ("", 401, 200), ("Bearer", 401, 200), ("Basic good", 401, 200), ("good", 401, 200),
        ("Bearer  good", 401, 200),
    ],
)  # fmt: skip
def test_who_sends_no_token_is_anonymous_where_that_is_allowed(authorization, closed, open_):
    async def main(server, client):
        for anonymous, status in ((False, closed), (True, open_)):
            client.face = HttpFace(server, {"good": ADMIN}, anonymous=anonymous)
            answered, headers, _ = await client.ask("GET", "/api", headers={"authorization": authorization} if authorization else {})
            assert answered == status
            assert ("warning" in headers) is (authorization == "Bearer  good")
            assert (await client.ask("GET", "/livez", headers={"authorization": "Bearer bad"}))[0] == 401

    on_a_server(main)


@pytest.mark.parametrize("header", ["impersonate-user", "impersonate-group", "impersonate-uid", "impersonate-extra-scopes"])
def test_impersonation_is_refused_by_each_of_its_headers(header):
    async def main(server, client):
        assert (await client.ask("GET", "/api", headers={header: "x"}))[0] == 501
        assert (await client.ask("GET", "/api", headers={header: ""}))[0] == 200

    on_a_server(main)


def test_names_that_lead_elsewhere_are_refused():
    async def main(server, client):
        for path, said in (("..", "\"..\": may not be '..'"), ("%2e", "\".\": may not be '.'"), ("a%25b", "\"a%b\": may not contain '%'")):
            for method in ("GET", "DELETE"):
                status, _, body = await client.ask(method, f"{CONFIG_MAPS}/{path}")
                assert (status, json.loads(body)["message"]) == (400, f"Name parameter invalid: {said}")
        for path in ("%", "%zz"):
            assert (await client.ask("GET", f"{CONFIG_MAPS}/{path}"))[0] == 400

    on_a_server(main)


def test_of_a_log_line_nothing_can_be_made_but_a_line():
    async def main(server, client):
        kept = []
        client.face = HttpFace(
            server, {"good": ADMIN}, log=lambda exchange, seconds: kept.append(line(exchange, seconds, server.world.clock.now()))
        )
        headers = {**AUTHORIZED, "user-agent": 'x"\n\x1b y', "audit-id": "1"}
        await client.ask("GET", f"{CONFIG_MAPS}?limit=1&token=secret", headers=headers)
        await client.ask("BREW", f"{CONFIG_MAPS}/%0a", headers=headers)
        await client.ask("GET", "/api", headers={"audit-id": "2"})
        assert kept == [
            f'2026-01-01T00:00:00.000Z LIST {CONFIG_MAPS}?limit=1&token=... 200 0.0000 "admin" "x\\"\\n\\u001b y" "1"',
            f'2026-01-01T00:00:00.000Z BREW {CONFIG_MAPS}/%0a 405 0.0000 "admin" "x\\"\\n\\u001b y" "1"',
            '2026-01-01T00:00:00.000Z GET /api 401 0.0000 "" "" "2"',
        ]

    on_a_server(main)


def test_a_token_file_is_read_as_kubernetes_reads_it():
    assert read_tokens(['abc,bob,1,"a, b"', "", "def,eve,2"]) == {
        "abc": Identity(user="bob", uid="1", groups=("a", "b", "system:authenticated")),
        "def": Identity(user="eve", uid="2", groups=("system:authenticated",)),
    }
    for lines, said in (
        (["secret,bob"], "line 1 has 2 of the columns"),
        (["a,b,c", ",bob,1"], "line 2 has no token"),
        (["secret,,1"], "line 1 has no user"),
        (["my secret,bob,1"], "line 1 has a token that no request can carry"),
        (['secret,"bob,1'], "line 1 cannot be read"),
    ):
        with pytest.raises(ValueError, match=re.escape(said)) as caught:
            read_tokens(lines)
        assert "secret" not in str(caught.value)
