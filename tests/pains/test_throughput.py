"""Many objects at once: nothing holds them up but the server itself, and what does is said."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from tests.client.http_server import READ, Server, answering, http

from setpoint import Client, Context, Controller, ObjectMeta, Request, SyncContext
from setpoint.api import Outcome, Transport
from setpoint.api.operation import Operation
from setpoint.client import Connection, HttpTransport, RequestRepeated
from setpoint.controller import RunEnded
from setpoint.k8s.core.v1 import ConfigMap
from setpoint.world import real_world

from .planes import Embedded, Real
from .scenes import Thing, ThingSpec

COUNT = 250
"""Fewer objects than in the story, to be quick: with 20 requests a second these would take 25 s."""
IN_FLIGHT = 100
"""So many requests a client has under way at most."""


class Counting:
    """A way to the server that counts how many requests are under way."""

    def __init__(self, inner: Transport) -> None:
        self.now = self.most = 0
        self._inner = inner

    async def send(self, operation: Operation, /) -> Outcome:
        """See `Transport`."""
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            return await self._inner.send(operation)
        finally:
            self.now -= 1

    async def close(self) -> None:
        """See `Transport`."""
        await self._inner.close()


class Slow:
    """A way to the server on which it takes long to get one object."""

    def __init__(self, inner: Transport, seconds: float) -> None:
        self._inner, self._seconds = inner, seconds

    async def send(self, operation: Operation, /) -> Outcome:
        """See `Transport`."""
        if operation.verb == "get":
            await asyncio.sleep(self._seconds)
        return await self._inner.send(operation)

    async def close(self) -> None:
        """See `Transport`."""
        await self._inner.close()


def _two_calls() -> Controller[Thing]:
    """One call for a child and one for the status, for a hundred objects at a time."""
    worker = Controller(Thing, name="worker", owns=[ConfigMap], concurrency=200)

    @worker.reconciler
    async def work(ctx: Context, request: Request) -> None:
        thing = await ctx.get(Thing, request)
        if thing is not None:
            await ctx.apply(ConfigMap(metadata=ObjectMeta(name=thing.name, namespace=thing.namespace)), owner=thing)
            thing.status.seen = thing.spec.value
            await ctx.update_status(thing)

    return worker


def _create(cluster: Embedded | Real, count: int) -> None:
    async def all_of_them(client: Client) -> None:
        things = [Thing(metadata=cluster.meta(f"thing-{number}"), spec=ThingSpec(value="x")) for number in range(1, count)]
        await asyncio.gather(*[client.create(thing) for thing in things])

    cluster.thing("thing-0", value="x")
    cluster.ask(all_of_them)


def test_hundreds_of_objects_do_not_wait_for_a_limit_of_the_clients_own(cluster: Embedded | Real) -> None:
    """kedacore/keda PR#7615, #7613, #3810, #3730, #2240 (of its kind: actions/actions-runner-controller#3833,
    zalando/postgres-operator#2667, akuity/kargo#4243, grafana/rollout-operator#385, kubernetes-sigs/controller-runtime#3119): the client
    allows itself 20 requests in a second. With 100 objects each write of a status waits for 5 s, with 1,088 for 24 s; 1,600, 45 minutes.
    """
    count = COUNT if not cluster.real else 40
    _create(cluster, count)
    ways: list[Counting] = []

    def counted(inner: Transport) -> Transport:
        ways.append(Counting(inner))
        return ways[0]

    began = cluster.now_in_seconds
    line = cluster.launch(_two_calls(), around=counted)
    cluster.until(lambda: len(cluster.heard(RunEnded, controller="worker", result="success")) >= count)
    seconds = cluster.now_in_seconds - began
    assert len(line.asked("patch", plural="things")) == len(line.asked("patch", plural="configmaps")) == count
    assert ways[0].most <= IN_FLIGHT + 5, "watches and lists beside"
    assert ways[0].most >= min(IN_FLIGHT, count) * 0.9, "nothing but that holds them up"
    assert cluster.heard(RequestRepeated) == []
    if not cluster.real:
        assert seconds < 3  # of simulated time, in which a request takes 0.5 to 5 ms
        assert cluster.heard(RunEnded, controller="worker", result="error") == []


def test_runs_that_wait_for_a_thread_are_counted_and_said(embedded: Embedded, caplog: pytest.LogCaptureFixture) -> None:
    """nolar/kopf PR#894, zalando-incubator/kopf#111: synchronous handlers fill the thread pool, and everything else waits, in silence; 300
    objects take a minute and a half.
    """
    slow, quick, looked = Controller(Thing, name="slow", concurrency=50), Controller(ConfigMap, name="quick"), list[str]()

    @slow.reconciler
    def wait(ctx: SyncContext, request: Request) -> None:
        assert ctx.get(Thing, request, live=True) is not None

    @quick.reconciler
    async def look(ctx: Context, request: Request) -> None:
        looked.append(request.name)

    for number in range(40):
        embedded.thing(f"thing-{number}")
    embedded.launch(slow, quick, around=lambda inner: Slow(inner, 20.0))
    embedded.until(lambda: embedded.metric("setpoint_thread_pool_waiting") > 0)
    embedded.create(ConfigMap(metadata=embedded.meta("meanwhile")))
    embedded.advance(timedelta(seconds=10))
    assert (embedded.metric("setpoint_thread_pool_size"), embedded.metric("setpoint_thread_pool_in_use")) == (32, 32)
    assert embedded.metric("setpoint_thread_pool_waiting") == 8
    assert "meanwhile" in looked, "what needs no thread waits for none"
    (told,) = [record.getMessage() for record in caplog.records if "for a thread" in record.getMessage()]
    assert "all 32 are taken, by slow (32)" in told
    embedded.settle()
    assert embedded.metric("setpoint_thread_pool_waiting") == 0
    assert len(embedded.heard(RunEnded, controller="slow", result="success")) == 40


def test_thousands_of_requests_take_a_bounded_number_of_connections() -> None:
    """encode/httpx#3215, pydantic/httpx2#827: with 5,000 requests, 200 at a time, one HTTP client is several times slower than another. It
    is the pool that costs, which grows with the callers and is searched for each request. Here, less than half are enough to see it.
    """
    opened: dict[str, None] = {}

    async def act(transport: HttpTransport, server: Server) -> int:
        connection = Connection(transport, real_world())

        async def client() -> None:
            for _ in range(10):
                await connection.call(READ)

        await asyncio.gather(*[client() for _ in range(200)])
        opened.update(dict.fromkeys(map(str, server._connections)))
        return len(server.requests)

    assert http(answering(b"{}"), act) == 2000
    assert 1 < len(opened) <= IN_FLIGHT
