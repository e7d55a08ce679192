"""Verbs beyond the everyday ones: what they send, what they make of the answer, and that servers take them."""

import asyncio
from contextlib import aclosing

import msgspec
import pytest

from setpoint.api import Answer, StreamBroken
from setpoint.client import Client, Connection, InProcessTransport, errors
from setpoint.cluster.server import ApiServer
from setpoint.k8s.apps.v1 import Deployment
from setpoint.k8s.core.v1 import ConfigMap, Pod
from setpoint.objects import ObjectMeta, Request
from setpoint.world import World, real_world, simulate

from .http_server import answering, chunked, http
from .servers import Script, WebApp, client_of, no, ok, webapp_content

KEY = Request("default", "web")


def using(script: Script, act, **options):
    async def main(world: World):
        return await act(client_of(script, world, **options))

    return simulate(main)


def on_the_embedded_server(act):
    async def main(world: World):
        client = Client(Connection(InProcessTransport(ApiServer(world).handle), world), namespace="default")
        return await act(client)

    return simulate(main)


# ---- patches


@pytest.mark.parametrize(
    ("type", "patch", "content_type"),
    [
        (None, {"spec": {}}, "application/merge-patch+json"),
        (None, [], "application/json-patch+json"),
        ("merge", {"spec": {}}, "application/merge-patch+json"),
        ("json", [], "application/json-patch+json"),
        ("strategic", {"spec": {}}, "application/strategic-merge-patch+json"),
        ("apply", {"apiVersion": "v1"}, "application/apply-patch+yaml"),
    ],
)
def test_each_type_of_patch_is_sent_as_it_is(type, patch, content_type):
    script = Script(ok(webapp_content()))
    using(script, lambda c: c.patch(WebApp, KEY, patch, type=type))
    (sent,) = script.sent
    assert (sent.verb, sent.content_type, msgspec.json.decode(sent.body)) == ("patch", content_type, patch)
    assert dict(sent.options) == {"fieldManager": "setpoint"} | ({"force": "true"} if type == "apply" else {})


@pytest.mark.parametrize(("type", "patch"), [("json", {}), ("merge", []), ("strategic", []), ("apply", [])])
def test_a_patch_that_cannot_be_of_that_type_is_refused(type, patch):
    with pytest.raises(TypeError, match=f"a patch of type '{type}' is a"):
        using(Script(), lambda c: c.patch(WebApp, KEY, patch, type=type))


# ---- on trial


def test_a_client_on_trial_changes_nothing_and_is_answered_as_if_it_had():
    async def act(client: Client):
        trial = client.bound(dry_run=True)
        kept = await client.create(ConfigMap(metadata=ObjectMeta(name="kept", namespace="default"), data={"a": "1"}))
        made = await trial.create(ConfigMap(metadata=ObjectMeta(name="tried", namespace="default")))
        changed = await trial.patch(ConfigMap, "kept", {"data": {"a": "2"}})
        await trial.delete(kept)
        await trial.delete_collection(ConfigMap)
        left = await client.list(ConfigMap, namespace="default")
        return made.metadata.uid, changed.data, [(item.name, item.data) for item in left if item.name != "kube-root-ca.crt"]

    uid, changed, left = on_the_embedded_server(act)
    assert uid
    assert changed == {"a": "2"}
    assert left == [("kept", {"a": "1"})]


def test_a_write_on_trial_passes_the_fence():
    script = Script(Answer(status=200, body=b"{}"))

    async def act(client: Client):
        client.connection.fence = lambda: "not leading"
        await client.bound(dry_run=True).delete(WebApp, KEY)

    using(script, act)
    assert script.sent[0].options["dryRun"] == "All"
    assert msgspec.json.decode(script.sent[0].body)["dryRun"] == ["All"]


def test_fields_that_the_server_does_not_know_are_refused_or_told(caplog):
    patch = {"data": {"a": "1"}, "dada": {}}

    async def act(client: Client):
        await client.create(ConfigMap(metadata=ObjectMeta(name="a", namespace="default")))
        with pytest.raises(errors.ApiError, match='unknown field "dada"'):
            await client.bound(field_validation="Strict").patch(ConfigMap, "a", patch)
        await client.bound(field_validation="Ignore").patch(ConfigMap, "a", patch)
        assert caplog.messages == []
        await client.bound(field_validation="Warn").patch(ConfigMap, "a", patch)

    on_the_embedded_server(act)
    assert len(caplog.messages) == 1
    assert 'unknown field "dada"' in caplog.text


# ---- collections, scale, eviction


def test_a_collection_is_deleted_by_selector_and_in_one_namespace_only():
    async def act(client: Client):
        for name in ("a", "b", "c"):
            await client.create(ConfigMap(metadata=ObjectMeta(name=name, namespace="default", labels={"last": str(name == "c")})))
        await client.delete_collection(ConfigMap, labels={"last": "False"})
        left = [item.name for item in await client.list(ConfigMap, namespace="default", labels="last")]
        await client.delete_collection(ConfigMap, fields="metadata.name=c")
        return left, [item.name for item in await client.list(ConfigMap, namespace="default", labels="last")]

    assert on_the_embedded_server(act) == (["c"], [])
    with pytest.raises(ValueError, match="in which namespace is every WebApp to be deleted"):
        using(Script(), lambda c: c.delete_collection(WebApp))


def test_scale_is_read_and_set():
    async def act(client: Client):
        manifest = {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "default"},
            "spec": {
                "replicas": 2,
                "selector": {"matchLabels": {"app": "web"}},
                "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "nginx"}]}},
            },
        }
        await client.apply(manifest)
        before = await client.get_scale(Deployment, "web")
        after = await client.set_scale(Deployment, "web", 0)
        found = await client.get(Deployment, "web")
        with pytest.raises(errors.NotFound):
            await client.get_scale(Deployment, "gone")
        return before, after, found.spec.replicas

    assert on_the_embedded_server(act) == ((2, 0, "app=web"), (0, 0, "app=web"), 0)


def test_a_pod_that_was_read_is_evicted_only_if_it_is_still_that_one():
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "default", "uid": "u"}, "spec": {"containers": []}}
    script = Script(ok(pod), Answer(status=201, body=b"{}"), Answer(status=201, body=b"{}"))

    async def act(client: Client):
        await client.evict(await client.get(Pod, "web"), grace_seconds=5)
        await client.evict("web")

    using(script, act, namespace="default")
    _, sent, plain = script.sent
    assert (sent.verb, sent.namespace, sent.name, sent.subresource) == ("create", "default", "web", "eviction")
    assert script.bodies[0] == {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": "web", "namespace": "default"},
        "deleteOptions": {"preconditions": {"uid": "u"}, "gracePeriodSeconds": 5},
    }
    assert "deleteOptions" not in msgspec.json.decode(plain.body)


def test_an_eviction_that_a_budget_forbids_is_tried_again_until_the_deadline():
    refused = no(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.", retryAfterSeconds=10)
    script = Script(refused, refused, Answer(status=201, body=b"{}"))
    using(script, lambda c: c.evict("web"), namespace="default")
    assert len(script.sent) == 3


# ---- logs


def logs_of(respond, **options):
    async def act(transport, server):
        client = Client(Connection(transport, real_world()), namespace="default")
        return [line async for line in client.logs("web", **options)], server.requests[0]

    return http(respond, act)


def test_a_log_is_read_line_by_line_as_it_is():
    lines, request = logs_of(chunked(b"one\n\ntw", b"o\n{\xff\nlast"), container="web", follow=True, tail=5)
    assert lines == ["one", "", "two", "{\ufffd", "last"]
    assert request.startswith("GET /api/v1/namespaces/default/pods/web/log?container=web&follow=true&tailLines=5 HTTP/1.1")
    assert logs_of(answering(b"whole\n"))[0] == ["whole"]
    assert logs_of(answering(b""))[0] == []


def test_a_log_that_is_followed_is_given_as_it_comes_and_is_left_in_its_middle():
    left = asyncio.Event()
    more = asyncio.Event()

    async def respond(server, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n")
        await writer.drain()
        await more.wait()
        writer.write(b"4\r\ntwo\n\r\n")
        while not writer.is_closing():  # what is written to one who has left comes back as an error
            await asyncio.sleep(0.01)
            writer.write(b"5\r\nmore\n\r\n")
        left.set()

    async def act(transport, server):
        client = Client(Connection(transport, real_world()), namespace="default")
        async with asyncio.timeout(30), aclosing(client.logs("web", follow=True)) as lines:
            first = await anext(lines)  # although the second is not there
            more.set()
            second = await anext(lines)
        async with asyncio.timeout(30):
            await left.wait()
        return first, second, len(transport._streams)

    assert http(respond, act) == ("one", "two", 0)


def test_a_log_whose_connection_is_lost_is_told():
    with pytest.raises(StreamBroken):
        logs_of(chunked(b"one\n", end=False), follow=True)


def test_a_log_that_the_server_refuses_is_an_error():
    body = b'{"kind":"Status","status":"Failure","reason":"BadRequest","code":400,"message":"container \\"web\\" is waiting to start"}'
    with pytest.raises(errors.BadRequest, match="is waiting to start"):
        logs_of(answering(body, "400 Bad Request"))


def test_the_embedded_server_has_no_logs_and_says_so():
    async def act(client: Client):
        with pytest.raises(errors.ApiError, match="the log of pods, in which nothing runs, is not supported by the embedded server"):
            [line async for line in client.logs("web")]

    on_the_embedded_server(act)
