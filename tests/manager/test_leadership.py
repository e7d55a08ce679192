"""A manager in an election: what it starts, what it holds back, how it hands over, how it ends when it has lost."""

import asyncio
import contextvars
import logging
import math
import threading
from contextlib import asynccontextmanager

import pytest

from setpoint import Context, Controller, ObjectMeta, Request, SyncContext
from setpoint.api import Unknown
from setpoint.client import Client, Connection
from setpoint.client.config import load_config
from setpoint.client.errors import NotLeading
from setpoint.client.http import HttpTransport
from setpoint.cluster import ControlPlane
from setpoint.cluster.server.events import Served
from setpoint.cluster.server.http.kubeconfig import write_kubeconfig
from setpoint.cluster.server.http.serving import serve
from setpoint.k8s.coordination.v1 import Lease
from setpoint.k8s.core.v1 import ConfigMap
from setpoint.manager import LeaderElection, LeadershipLost, Manager, Options
from setpoint.manager.metrics.exposition import exposition
from setpoint.world import PROCESS, World, real_world, simulate
from setpoint.world.loop_thread import LoopThread

KEY = Request("default", "writer")


def config_map(name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"), data=data)


class Way:
    """A way to the server that can be cut; it counts what leaves."""

    def __init__(self, inner) -> None:
        self.inner = inner
        self.cut = False
        self.writes: list[str] = []

    async def send(self, operation):
        if operation.is_write:
            self.writes.append(str(operation))
        if self.cut:
            return Unknown("the connection was reset")
        return await self.inner.send(operation)

    async def close(self) -> None:
        await self.inner.close()


class Replica:
    """A manager in a simulated process of its own, with a controller that writes what it sees. `work` is the seconds that a run takes."""

    def __init__(self, plane: ControlPlane, world: World, name: str, *, work: float = 0.0, **options) -> None:
        self.name = name
        self.runs: list[str] = []
        self.ended: list[str] = []
        self.way = Way(plane.transport(latency=lambda _: world.chance.uniform(0.001, 0.01)))
        election = LeaderElection(name=KEY.name, namespace=KEY.namespace, identity=name)
        self.manager = Manager(Connection(self.way, world), options=Options(leader_election=election, **options))
        controller = Controller(ConfigMap, name="writer")

        @controller.reconciler
        async def reconcile(ctx: Context, request: Request) -> None:
            if request.name.startswith("seen"):
                return
            self.runs.append(request.name)
            await asyncio.sleep(work)
            await ctx.apply(config_map(f"seen-{request.name}", by=name))
            self.ended.append(request.name)

        self.manager.add(controller)
        self.life = asyncio.create_task(self.manager.run(), name=name)

    async def stop(self) -> None:
        self.manager.stop()
        await self.life


def in_process(name: str, make):
    context = contextvars.copy_context()
    context.run(PROCESS.set, name)
    return context.run(make)


def replicas(main, seed=0, **options):
    """Runs `main(client, a, b)`: `a` leads, `b` stands by."""

    async def body(world: World):
        async with ControlPlane(world, controllers=False) as plane:
            client = Client(Connection(plane.transport(), world), namespace="default")
            await client.create(config_map("one"))
            a = in_process("a", lambda: Replica(plane, world, "a", **options))
            await until(lambda: a.manager.is_leader and a.ended)
            b = in_process("b", lambda: Replica(plane, world, "b", **options))
            await asyncio.sleep(1)
            return await main(client, a, b)

    return simulate(body, seed=seed)


async def until(condition, seconds: float = 3600) -> float:
    loop = asyncio.get_running_loop()
    began = loop.time()
    while not condition():
        await asyncio.sleep(0.05)
        if loop.time() - began > seconds:
            return math.inf
    return loop.time() - began


def test_the_lease_says_what_client_go_says():
    async def main(client, a, b):
        lease = await client.get(Lease, KEY)
        await asyncio.sleep(10)
        later = await client.get(Lease, KEY)
        await a.stop()
        released = await client.get(Lease, KEY)
        await until(lambda: b.manager.is_leader)
        taken = await client.get(Lease, KEY)
        await b.stop()
        return lease.spec, later.spec, released.spec, taken.spec

    lease, later, released, taken = replicas(main)
    assert (lease.holder_identity, lease.lease_duration_seconds, lease.lease_transitions) == ("a", 15, 0)
    assert lease.acquire_time == lease.renew_time
    assert (later.holder_identity, later.acquire_time, later.lease_transitions) == ("a", lease.acquire_time, 0)
    assert 8 <= (later.renew_time - lease.renew_time).total_seconds() <= 12
    assert (released.holder_identity or "", released.lease_duration_seconds, released.lease_transitions) == ("", 1, 0)
    assert (taken.holder_identity, taken.lease_duration_seconds, taken.lease_transitions) == ("b", 15, 1)
    assert taken.acquire_time == taken.renew_time > released.renew_time


def test_an_identity_is_the_name_of_the_machine_and_something_unique():
    async def main(world: World):
        async with ControlPlane(world, controllers=False) as plane:
            options = Options(leader_election=LeaderElection(name="x", namespace="default"))
            managers = [Manager(Connection(plane.transport(), world), options=options) for _ in range(2)]
            return [manager._leadership.identity for manager in managers]

    first, second = simulate(main)
    assert first.startswith("simulated_")
    assert first != second


def test_a_standby_is_warm_and_ready_and_starts_nothing():
    async def main(client, a, b):
        await client.create(config_map("two"))
        await until(lambda: "two" in a.ended)
        assert all(informer.has_synced for runtime in b.manager.controllers for informer in runtime.informers)
        assert b.manager.health.ready["caches"]() is None
        assert not b.manager.is_leader
        assert not b.manager.has_started
        text = [exposition(replica.manager.metrics.registry).decode() for replica in (a, b)]
        late = Controller(ConfigMap, name="late")
        late.reconciler(recorded := _record())
        b.manager.add(late)
        await asyncio.sleep(60)
        await b.stop()
        await a.stop()
        return text, b.runs, b.way.writes, recorded.runs

    text, runs, writes, late = replicas(main)
    assert 'leader_election_master_status{name="writer"} 1.0' in text[0]
    assert 'leader_election_master_status{name="writer"} 0.0' in text[1]
    assert (runs, writes, late) == ([], [], [])


def _record():
    async def record(ctx: Context, request: Request) -> None:
        record.runs.append(request.name)

    record.runs = []
    return record


def test_a_controller_that_was_added_to_a_standby_starts_once_it_leads():
    async def main(client, a, b):
        late = Controller(ConfigMap, name="late")
        late.reconciler(recorded := _record())
        b.manager.add(late)
        await a.stop()
        await until(lambda: b.manager.is_idle)
        await b.stop()
        return recorded.runs

    assert set(replicas(main)) == {"one", "seen-one"}


@pytest.mark.parametrize("seed", range(10))
def test_a_stopped_leader_ends_its_runs_before_it_hands_over_and_the_standby_leads_within_two_seconds(seed):
    async def main(client, a, b):
        await client.create(config_map("two"))
        await until(lambda: "two" in a.runs)
        stopping = asyncio.create_task(a.stop())
        while "two" not in a.ended:
            assert not b.manager.is_leader
            await asyncio.sleep(0.05)
        handed_over = await until(lambda: b.manager.is_leader)
        await stopping
        one = await until(lambda: "two" in b.ended)
        await b.stop()
        return handed_over, one

    handed_over, one = replicas(main, seed, work=20.0)
    assert handed_over < 2
    assert one < math.inf


def test_a_run_that_outlives_the_grace_is_cancelled_before_the_hand_over():
    async def main(client, a, b):
        await client.create(config_map("two"))
        await until(lambda: "two" in a.runs)
        await a.stop()
        handed_over = await until(lambda: b.manager.is_leader)
        await b.stop()
        return "two" in a.ended, handed_over

    ended, handed_over = replicas(main, work=100.0, grace=10.0)
    assert not ended
    assert handed_over < 2


@pytest.mark.parametrize("seed", range(10))
def test_a_leader_that_is_cut_off_ends_with_an_error_and_without_grace_before_another_leads(seed):
    async def main(client, a, b):
        await client.create(config_map("two"))
        await until(lambda: "two" in a.runs)
        loop = asyncio.get_running_loop()
        a.way.cut = True
        began = loop.time()
        await until(lambda: a.life.done() or b.manager.is_leader)
        assert a.life.done()
        lost = loop.time() - began
        gone = asyncio.gather(a.life, return_exceptions=True)
        error = (await gone)[0]
        left = len(a.way.writes)
        await until(lambda: b.manager.is_leader)
        took = loop.time() - began
        await until(lambda: "two" in b.ended)
        await b.stop()
        return error, lost, took, "two" in a.ended, len(a.way.writes) - left

    error, lost, took, ended, more = replicas(main, seed, work=100.0)
    assert isinstance(error, LeadershipLost)
    assert "default/writer is lost: it was not renewed for 10 s (" in str(error)
    assert lost <= 10.5
    assert took <= 15.5
    assert (ended, more) == (False, 0)


def test_a_leader_whose_lease_was_taken_ends_at_once():
    async def main(client, a, b):
        lease = await client.get(Lease, KEY)
        lease.spec.holder_identity = "somebody-else"
        await client.update(lease)
        seconds = await until(a.life.done)
        await b.stop()
        return (await asyncio.gather(a.life, return_exceptions=True))[0], seconds

    error, seconds = replicas(main)
    assert isinstance(error, LeadershipLost)
    assert "somebody-else holds it now" in str(error)
    assert seconds < 3


def test_a_lease_that_somebody_deletes_is_made_anew_by_its_holder():
    async def main(client, a, b):
        await client.delete(Lease, KEY)
        for _ in range(400):
            await asyncio.sleep(0.1)
            assert not b.manager.is_leader
        leads, lease = a.manager.is_leader, await client.get(Lease, KEY)
        await b.stop()
        await a.stop()
        return leads, lease.spec.holder_identity

    assert replicas(main) == (True, "a")


def test_what_does_not_lead_cannot_write_but_before_it_runs():
    async def main(client, a, b):
        with pytest.raises(NotLeading, match="does not hold the lease default/writer"):
            await b.manager.client.create(config_map("x"))
        assert await b.manager.client.get(ConfigMap, "default/one") is not None
        await b.stop()
        await a.stop()
        with pytest.raises(NotLeading):
            await a.manager.client.create(config_map("x"))

    replicas(main)


def paused(*, fenced: bool) -> tuple[object, list[str]]:
    """How the manager of a process ends that is stopped for longer than the lease while it is about to write, and what it writes then."""

    async def main(client, a, b):
        loop = asyncio.get_running_loop()
        await client.create(config_map("two"))
        await until(lambda: "two" in a.runs)
        left = len(a.way.writes)
        if not fenced:
            a.manager.client.connection.fence = lambda: None
        loop.pause("a")
        await asyncio.sleep(30)
        assert b.manager.is_leader
        loop.resume("a")
        await until(a.life.done)
        await b.stop()
        # Renewals of its Lease may leave: they name the version that they were decided on.
        return (await asyncio.gather(a.life, return_exceptions=True))[0], [write for write in a.way.writes[left:] if "configmaps" in write]

    return replicas(main, work=3.0)


def test_a_pause_of_the_whole_process_beyond_the_lease_lets_no_write_pass():
    error, writes = paused(fenced=True)
    assert isinstance(error, LeadershipLost)
    assert writes == []


def test_broken_a_manager_without_the_fence_is_noticed():
    _, writes = paused(fenced=False)
    assert writes == ["patch configmaps default/seen-two"]


def test_liveness_fails_where_a_run_cannot_be_ended_after_the_leadership_was_lost():
    async def main(client, a, b):
        live = a.manager.health.live["leader-election"]
        assert live() is None
        asyncio.get_running_loop().pause("a")
        await asyncio.sleep(12)
        assert live() is None
        await asyncio.sleep(18)
        said = live()
        asyncio.get_running_loop().resume("a")
        await asyncio.gather(a.life, return_exceptions=True)
        await b.stop()
        return said

    assert "does not hold the lease default/writer any more, and yet it has not ended" in replicas(main)


def test_a_candidate_that_may_not_read_the_lease_says_so_and_goes_on(caplog):
    async def main(world: World):
        async with ControlPlane(world, controllers=False) as plane:
            way = Way(plane.transport())
            way.cut = True
            options = Options(leader_election=LeaderElection(name=KEY.name, namespace=KEY.namespace))
            manager = Manager(Connection(way, world), options=options)
            running = asyncio.create_task(manager.run())
            await asyncio.sleep(60)
            way.cut = False
            seconds = await until(lambda: manager.is_leader)
            manager.stop()
            await running
            return seconds

    with caplog.at_level(logging.WARNING):
        assert simulate(main) < 4.5
    said = [record.getMessage() for record in caplog.records if "the lease default/writer" in record.getMessage()]
    assert len(said) == 1, said
    assert "the connection was reset" in said[0]


def test_a_blocked_event_loop_does_not_keep_the_lease_from_being_renewed(tmp_path):
    """On the machine's clock: the election has a thread of its own, and goes on while the loop stands still until it has."""
    world = real_world()
    election = LeaderElection(name=KEY.name, namespace=KEY.namespace, retry_period=0.05)
    renewals = threading.Semaphore(0)

    def hear(event):
        if isinstance(event, Served) and event.operation.verb == "patch" and event.operation.resource.resource == "leases":
            renewals.release()

    world.observer.subscribe(hear)

    async def main(config):
        connection = Connection(HttpTransport(config, world), world)
        manager = Manager(connection, options=Options(leader_election=election, blocked=60.0))
        client = Client(Connection(HttpTransport(config, world), world))
        controller = Controller(ConfigMap, name="blocking")
        blocked: list[float] = []

        @controller.reconciler
        async def reconcile(ctx: Context, request: Request) -> None:
            if not blocked:
                while renewals.acquire(blocking=False):
                    pass
                for _ in range(3):  # answered since the loop stands still
                    assert renewals.acquire(timeout=30)
                blocked.append(1.0)
            await ctx.apply(config_map("written"))

        manager.add(controller)
        await client.create(config_map("one"))
        running = asyncio.create_task(manager.run())
        async with asyncio.timeout(60):
            while await client.get(ConfigMap, "default/written") is None:
                await asyncio.sleep(0.05)
        leads, lease = manager.is_leader, await client.get(Lease, KEY)
        manager.stop()
        await running
        released = await client.get(Lease, KEY)
        await client.connection.close()
        await connection.close()
        return leads, lease.spec.lease_transitions, released.spec.holder_identity or ""

    @asynccontextmanager
    async def server():
        async with ControlPlane(world, controllers=False) as plane, serve(plane.server, world) as address:
            yield address

    with LoopThread("server") as thread, thread.hold(server) as address:
        path = tmp_path / "kubeconfig"
        write_kubeconfig(path, address.url, address.ca_pem, address.token)
        assert asyncio.run(main(load_config(str(path), None))) == (True, 0, "")


def test_an_async_reconciler_that_sleeps_beyond_the_lease_writes_nothing_after_it_was_lost(tmp_path):
    """On the machine's clock: the loop stands still, as in `time.sleep(20)` under a lease of 15 s; here, until the lease is lost."""
    world = real_world()
    election = LeaderElection(name=KEY.name, namespace=KEY.namespace, lease_duration=2, renew_deadline=1.0, retry_period=0.1)
    tick = threading.Event()

    class Divided(HttpTransport):
        """The election's way to the server can be cut by itself."""

        def another(self):
            return ways[0]

    ways: list[Way] = []

    async def main(config):
        ways.append(Way(HttpTransport(config, world)))
        connection = Connection(Divided(config, world), world)
        manager = Manager(connection, options=Options(leader_election=election, blocked=60.0))
        client = Client(Connection(HttpTransport(config, world), world))
        controller = Controller(ConfigMap, name="blocking")
        refused: list[str] = []

        @controller.reconciler
        async def reconcile(ctx: Context, request: Request) -> None:
            ways[0].cut = True
            while manager.is_leader:
                tick.wait(0.02)
            try:
                await ctx.apply(config_map("written"))
            except NotLeading as error:
                refused.append(str(error))
                raise

        manager.add(controller)
        await client.create(config_map("one"))
        with pytest.raises(LeadershipLost):
            async with asyncio.timeout(60):
                await manager.run()
        written = await client.get(ConfigMap, "default/written")
        await client.connection.close()
        await connection.close()
        return refused, written

    @asynccontextmanager
    async def server():
        async with ControlPlane(world, controllers=False) as plane, serve(plane.server, world) as address:
            yield address

    with LoopThread("server") as thread, thread.hold(server) as address:
        path = tmp_path / "kubeconfig"
        write_kubeconfig(path, address.url, address.ca_pem, address.token)
        refused, written = asyncio.run(main(load_config(str(path), None)))
    assert written is None
    assert refused
    assert "does not lead" in refused[0]


def test_a_plain_reconciler_in_a_thread_cannot_write_either():
    async def main(world: World):
        async with ControlPlane(world, controllers=False) as plane:
            client = Client(Connection(plane.transport(), world), namespace="default")
            await client.create(config_map("one"))
            way = Way(plane.transport())
            election = LeaderElection(name=KEY.name, namespace=KEY.namespace)
            manager = Manager(Connection(way, world), options=Options(leader_election=election))
            said: list[str] = []
            controller = Controller(ConfigMap, name="plain")

            @controller.reconciler
            def reconcile(ctx: SyncContext, request: Request) -> None:
                manager._leadership.fence.until = -math.inf
                try:
                    ctx.apply(config_map("two"))
                except NotLeading as error:
                    said.append(str(error))

            manager.add(controller)
            running = asyncio.create_task(manager.run())
            await until(lambda: said)
            manager.stop()
            await running
            return said[0], [write for write in way.writes if "configmaps" in write]

    said, writes = simulate(main)
    assert "does not lead" in said
    assert writes == []
