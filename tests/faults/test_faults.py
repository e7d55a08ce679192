"""What each fault does to a request, in this process and over HTTP."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import ssl
from datetime import timedelta

import pytest

from setpoint import ObjectMeta
from setpoint.api import ADMIN, Answer, GroupVersionResource, Identity, Operation, StreamBroken, Unknown
from setpoint.cluster import ControlPlane
from setpoint.cluster.faults import Cut, Delay, Drop, Late, Match, Refuse, Rule, Setting, SlowDisk, Stale, parse_fault
from setpoint.cluster.hosted import hosted
from setpoint.cluster.server import MemoryStorage, watch
from setpoint.cluster.server.http.asgi import ABORT, HttpFace
from setpoint.k8s.core.v1 import ConfigMap
from setpoint.testing import Cluster
from setpoint.world import SeededChance, simulate

CONFIG_MAPS = GroupVersionResource("", "v1", "configmaps")
BODY = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"%b"}}'


def operation(verb, name="", body=b"", **options):
    named = "" if verb == "create" else name
    return Operation(verb=verb, resource=CONFIG_MAPS, namespace="default", name=named, body=body, options=options)


def create(name):
    return operation("create", body=BODY % name.encode())


async def until_broken(stream):
    """How many events come before it breaks."""
    seen = 0
    try:
        while (frames := await stream.read()) is not None:
            seen += len(frames)
    except StreamBroken:
        return seen
    raise AssertionError("it has ended cleanly")


def on_a_plane(main, **more):
    async def run(world):
        async with ControlPlane(world, controllers=False, **more) as plane:
            await main(plane, plane.transport())

    simulate(run)


async def status(transport, asked):
    outcome = await transport.send(asked)
    return outcome.status if isinstance(outcome, Answer) else type(outcome).__name__


def test_a_refusal_is_answered_instead_and_nothing_happens():
    async def main(plane, transport):
        for code in (409, 410, 429, 500, 503, 504):
            rule = plane.faults.add(Refuse(code, retry_after=3), verb="create")
            answer = await transport.send(create("a"))
            assert answer.status == json.loads(answer.body)["code"] == code
            assert answer.headers.get("retry-after") == (None if code in (409, 410) else "3")
            plane.faults.remove(rule)
            assert await status(transport, operation("get", "a")) == 404

    on_a_plane(main)


def test_a_refusal_may_come_after_the_write_has_landed():
    async def main(plane, transport):
        plane.faults.add(Refuse(504, landed=True), verb="create")
        assert await status(transport, create("a")) == 504
        assert await status(transport, operation("get", "a")) == 200

    on_a_plane(main)


def test_a_watch_that_is_refused_410_says_so_in_the_stream():
    async def main(plane, transport):
        plane.faults.add(Refuse(410), verb="watch")
        stream = await transport.send(operation("watch"))
        (frame,) = await stream.read()
        assert (json.loads(frame)["type"], json.loads(frame)["object"]["code"]) == ("ERROR", 410)
        assert await stream.read() is None

    on_a_plane(main)


@pytest.mark.parametrize(("before", "there"), [(False, 200), (True, 404)])
def test_a_dropped_connection_leaves_the_outcome_unknown(before, there):
    async def main(plane, transport):
        plane.faults.add(Drop(before=before), verb="create")
        assert isinstance(await transport.send(create("a")), Unknown)
        assert await status(transport, operation("get", "a")) == there

    on_a_plane(main)


def test_a_delay_takes_its_time_before_or_after():
    async def main(plane, transport):
        loop = asyncio.get_running_loop()
        for landed in (False, True):
            plane.faults.clear()
            plane.faults.add(Delay(5, landed=landed), verb="create")
            asking = asyncio.create_task(status(transport, create(f"a-{landed}".lower())))
            began = loop.time()
            await asyncio.sleep(1)
            assert await status(transport, operation("get", f"a-{landed}".lower())) == (200 if landed else 404)
            assert await asking == 201
            assert loop.time() - began == 5

    on_a_plane(main)


def test_what_a_late_watch_tells_is_complete_and_in_order():
    async def main(plane, transport):
        plane.faults.add(Late(10), verb="watch")
        stream = await transport.send(operation("watch", resourceVersion="1", timeoutSeconds="30"))
        loop = asyncio.get_running_loop()
        told = []
        for name in ("a", "b", "c"):
            await transport.send(create(name))
            await asyncio.sleep(2)
        while (frames := await stream.read()) is not None:
            told += [(json.loads(frame)["object"]["metadata"]["name"], loop.time()) for frame in frames]
        assert told == [("a", 10), ("b", 12), ("c", 14)]
        assert loop.time() == 40
        await stream.close()

    on_a_plane(main)


def test_who_does_not_read_a_late_watch_is_dropped_too(monkeypatch):
    monkeypatch.setattr(watch, "QUEUE_LIMIT", 3)

    async def main(plane, transport):
        plane.faults.add(Late(10), verb="watch")
        loop = asyncio.get_running_loop()
        ended = []
        stream = await plane.handle(operation("watch", resourceVersion="1"))
        stream.when_ended(lambda: ended.append(loop.time()))
        for number in range(30):  # as many wait as are late, and then no more
            await transport.send(create(f"c{number}"))
            await asyncio.sleep(1)
        assert len(plane.server.hub) == 0
        await asyncio.sleep(10)
        assert ended == [pytest.approx(25, abs=2)]
        await stream.close()

    on_a_plane(main)


@pytest.mark.parametrize("action", [Late(1), Cut(events=100), Cut(seconds=3600), Stale()])
def test_who_does_not_read_a_watch_that_a_rule_has_touched_is_cut_off(monkeypatch, action):
    monkeypatch.setattr(watch, "QUEUE_LIMIT", 3)

    async def main(plane, transport):
        plane.faults.add(action)
        gone, stuck = asyncio.Event(), asyncio.Event()
        scope = {"type": "http", "method": "GET", "path": "/api/v1/configmaps", "query_string": b"watch=true", "headers": []}
        scope["state"] = {ABORT: gone.set}

        async def receive():
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            if message["type"] == "http.response.body":
                await stuck.wait()

        serving = asyncio.create_task(HttpFace(plane.server, handle=plane.handle)(scope, receive, send))
        for number in range(20):
            await transport.send(create(f"c{number}"))
            await asyncio.sleep(1)
        await asyncio.sleep(20)
        assert gone.is_set()
        assert serving.done()

    on_a_plane(main)


def test_a_watch_breaks_off_after_so_many_events_or_seconds():
    async def main(plane, transport):
        for cut, wanted in ((Cut(events=2), 2), (Cut(seconds=3), 3), (Cut(), 0)):
            plane.faults.clear()
            plane.faults.add(cut)
            stream = await transport.send(operation("watch", resourceVersion="1"))
            for name in ("a", "b", "c"):
                await transport.send(operation("delete", name))
                await transport.send(create(name))
            seen = await until_broken(stream)
            assert seen == wanted or (cut.seconds is not None and seen >= wanted)
            await stream.close()

    on_a_plane(main)


@pytest.mark.parametrize("first", [Cut(events=1), Late(5)])
def test_a_watch_may_be_late_and_break_off(first):
    async def main(plane, transport):
        for action in (first, Late(5) if isinstance(first, Cut) else Cut(events=1)):
            plane.faults.add(action)
        stream = await transport.send(operation("watch", resourceVersion="1"))
        await transport.send(create("a"))
        await transport.send(create("b"))
        assert await until_broken(stream) == 1
        await stream.close()

    on_a_plane(main)


def test_open_watches_can_be_cut_or_ended():
    async def main(plane, transport):
        plane.faults.add(Refuse(503), verb="update")  # with any rule, watches are kept in mind
        broken, ended = await transport.send(operation("watch")), await transport.send(operation("watch"))
        assert plane.faults.cut("pods") == 0
        assert plane.faults.cut("configmaps") == 2
        for stream in (broken, ended):
            with pytest.raises(StreamBroken):
                await stream.read()
        stream = await transport.send(operation("watch"))
        plane.faults.cut(cleanly=True)
        assert await stream.read() is None

    on_a_plane(main)


def test_reads_may_show_how_things_were():
    async def main(plane, transport):
        await transport.send(create("a"))
        await transport.send(create("b"))
        plane.faults.add(Stale(behind=1))

        async def names(**options):
            answer = await transport.send(operation("list", **options))
            return [item["metadata"]["name"] for item in json.loads(answer.body)["items"]]

        assert await names(resourceVersion="0") == ["a"]
        assert await names() == ["a", "b"]
        assert await status(transport, operation("get", "b", resourceVersion="0")) == 404
        assert await status(transport, operation("get", "b")) == 200
        plane.faults.add(Stale(behind=1, always=True))
        assert await names() == ["a"]
        answer = await transport.send(operation("get", "a"))
        assert {**json.loads(answer.body), "metadata": {}} == {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}

    on_a_plane(main)


def test_a_stale_list_goes_on_as_it_began():
    async def main(plane, transport):
        for name in ("a", "b", "c"):
            await transport.send(create(name))
        first = json.loads((await transport.send(operation("list", limit="2"))).body)
        plane.faults.add(Stale(behind=1, always=True))
        rest = json.loads((await transport.send(operation("list", limit="2", **{"continue": first["metadata"]["continue"]}))).body)
        assert [item["metadata"]["name"] for item in rest["items"]] == ["c"]

    on_a_plane(main)


def test_a_slow_disk_holds_back_answers_and_events():
    async def main(plane, transport):
        loop = asyncio.get_running_loop()
        began = loop.time()
        stream = await transport.send(operation("watch", resourceVersion=str(plane.server.storage.durable)))
        assert await status(transport, create("a")) == 201
        assert len(await stream.read()) == 1
        assert loop.time() >= began + 2

    async def run(world):
        async with ControlPlane(world, controllers=False, storage=SlowDisk(MemoryStorage(), 2)) as plane:
            await main(plane, plane.transport())

    simulate(run)


def test_a_clock_that_is_ahead_dates_what_is_made():
    async def main(plane, transport):
        plane.faults.clock.offset = timedelta(hours=-3)
        answer = await transport.send(create("a"))
        assert json.loads(answer.body)["metadata"]["creationTimestamp"] == "2025-12-31T21:00:00Z"

    on_a_plane(main)


def test_a_rule_hits_what_it_names_as_often_as_it_says():
    chance = SeededChance(1)
    get = Operation(verb="get", resource=GroupVersionResource("apps", "v1", "deployments"), namespace="a", name="x", user_agent="kubectl/1")
    for match in (
        Match(("get", "list")),
        Match(resource="deployments"),
        Match(resource="deployments.apps", namespace="a", name="x", subresource="", user="admin", agent="kubectl"),
    ):
        assert match.fits(get, ADMIN)
    for match in (Match(("list",)), Match(resource="deployments.batch"), Match(name="y"), Match(subresource="scale"), Match(agent="helm")):
        assert not match.fits(get, ADMIN)
    assert not Match(user="bob").fits(get, Identity(user="eve"))
    rule = Rule(Delay(1), nth=3, times=2)
    assert [rule.hit(get, ADMIN, chance) for _ in range(6)] == [False, False, True, True, False, False]
    rare = Rule(Delay(1), chance=0.25)
    assert 150 < sum(rare.hit(get, ADMIN, chance) for _ in range(1000)) < 350


@pytest.mark.parametrize(
    ("text", "action", "match"),
    [
        ("429:verb=list,resource=pods,times=3,retry-after=5", Refuse(429, retry_after=5), Match(("list",), "pods")),
        ("drop:verb=create|update,chance=10%", Drop(), Match(("create", "update"))),
        ("drop:before=true,verb=write", Drop(before=True), Match(("create", "update", "patch", "delete", "deletecollection"))),
        ("delay:seconds=250ms,user=bob", Delay(0.25), Match(user="bob")),
        ("late:seconds=2,namespace=a", Late(2.0), Match(namespace="a")),
        ("cut:events=3,cleanly=true", Cut(events=3, cleanly=True), Match()),
        ("stale:behind=5,always=true", Stale(5, always=True), Match()),
        ("503", Refuse(503), Match()),
    ],
)
def test_a_fault_is_read_from_text(text, action, match):
    rule = parse_fault(text)
    assert (rule.action, rule.match) == (action, match)


def test_settings_are_read_from_text():
    assert parse_fault("clock:offset=-1h30m") == Setting(clock=timedelta(minutes=-90))
    assert parse_fault("slow-disk:seconds=0.5") == Setting(disk=0.5)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x", "there is no fault 'x'; there are 409, 410, 429, 500, 503, 504, drop, delay, late, cut, stale, clock, slow-disk"),
        ("429:foo=1", "there is no key 'foo' in the fault '429:foo=1'; there are retry-after, landed, verb"),
        ("429:verb=lst", "there is no verb 'lst'; there are get, list"),
        ("late", "the fault 'late' needs seconds, as in late:seconds=2s"),
        ("late:seconds=x", "a duration is wanted"),
        ("429:times=0", "times is a number from 1 on"),
        ("429:times=-1", "a whole number is wanted"),
        ("429:verb", "'verb' in the fault '429:verb' is no key=value"),
        ("429:name=a,name=b", "says name twice"),
        ("drop:before=yes", "true or false is wanted"),
        ("cut:chance=0", "chance is a probability"),
        ("clock", "needs offset"),
        ("stale:behind=0", "behind is a number of revisions from 1 on"),
    ],
)
def test_a_text_that_is_no_fault_is_told_what_there_is(text, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        parse_fault(text)


def test_the_faults_of_a_cluster_spare_the_test_itself():
    with Cluster() as cluster:
        cluster.faults.add(Refuse(409))
        made = cluster.create(ConfigMap(metadata=ObjectMeta(name="a", namespace="default")))
        made.data = {"a": "b"}
        cluster.update(made)


def test_over_http_faults_are_the_same():
    faults = [parse_fault("429:verb=list,times=1,retry-after=2"), parse_fault("drop:verb=create,times=1"), parse_fault("cut:events=1")]
    with hosted(controllers=False, faults=faults) as address:
        context = ssl.create_default_context(cadata=address.ca_pem.decode())

        def ask(method, path, body=None):
            connection = http.client.HTTPSConnection("localhost", address.port, context=context)
            try:
                connection.request(method, path, body, {"authorization": f"Bearer {address.token}", "content-type": "application/json"})
                answer = connection.getresponse()
                return answer.status, answer.getheader("retry-after"), answer.read()
            finally:
                connection.close()

        path = "/api/v1/namespaces/default/configmaps"
        assert ask("GET", path)[:2] == (429, "2")
        assert ask("GET", path)[0] == 200
        with pytest.raises(http.client.RemoteDisconnected):
            ask("POST", path, BODY % b"a")
        assert ask("GET", f"{path}/a")[0] == 200
        with pytest.raises((http.client.IncompleteRead, OSError)):
            ask("GET", f"{path}?watch=1")
