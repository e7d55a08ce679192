"""The same end, in whatever order the streams of different kinds and the answers to requests arrive."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from setpoint.api import Operation
from setpoint.api.operation import Outcome, Stream
from setpoint.client import Client, Connection, InProcessTransport
from setpoint.client.install import install
from setpoint.cluster import ControlPlane
from setpoint.cluster.controllers import control_plane_controllers
from setpoint.k8s.apps.v1 import Deployment, ReplicaSet, StatefulSet
from setpoint.k8s.batch.v1 import Job
from setpoint.k8s.core.v1 import ConfigMap, Namespace, PersistentVolumeClaim, Pod
from setpoint.manager import Manager
from setpoint.objects import ObjectMeta
from setpoint.world import Chance, World, simulate

from .test_jobs import a_cron_job, a_job
from .test_statefulsets import a_claim_template, a_stateful_set
from .test_workloads import a_deployment
from .things import Widget, a_map, a_widget, blocking

SLOWEST = 1.0
"""Seconds by which one event or request may be later than another."""


class LateStream:
    """A watch whose every read takes a while. Within it the order stays."""

    def __init__(self, stream: Stream, delay: Callable[[], float]) -> None:
        self._stream = stream
        self._delay = delay

    async def read(self) -> list[bytes] | None:
        frames = await self._stream.read()
        await asyncio.sleep(self._delay())
        return frames

    async def close(self) -> None:
        await self._stream.close()


class LateTransport:
    """A network on which everything takes its time; news of `lagging`, the plural of a kind, take 30 seconds."""

    def __init__(self, inner: InProcessTransport, chance: Chance, lagging: str = "") -> None:
        self._inner = inner
        self._chance = chance
        self._lagging = lagging

    async def send(self, operation: Operation, /) -> Outcome:
        await asyncio.sleep(self._chance.uniform(0, SLOWEST / 4))
        outcome = await self._inner.send(operation)
        if operation.verb == "watch" and hasattr(outcome, "read"):
            lags = operation.resource is not None and operation.resource.resource == self._lagging
            return LateStream(outcome, lambda: 30.0 if lags else self._chance.uniform(0, SLOWEST))
        await asyncio.sleep(self._chance.uniform(0, SLOWEST / 4))
        return outcome

    async def close(self) -> None:
        await self._inner.close()


def in_any_order(seed: int, story: Callable[[Client, World], Awaitable[None]], *, lagging: str = "") -> None:
    async def main(world: World) -> None:
        async with ControlPlane(world, controllers=False) as plane:
            client = Client(Connection(plane.transport(), world))
            await install(client, [Widget])
            manager = Manager(Connection(LateTransport(plane.transport(), world.chance, lagging), world))
            async with control_plane_controllers(manager):
                running = asyncio.create_task(manager.run())
                await story(client, world)
                manager.stop()
                await running

    simulate(main, seed=seed)


async def changed(client: Client, key: str, change: Callable[[Deployment], None]) -> Deployment:
    found = await client.get(Deployment, key)
    assert found is not None
    change(found)
    return await client.update(found)


@pytest.mark.parametrize("seed", range(12))
def test_a_deployment_that_is_changed_while_it_rolls_out_ends_as_it_was_last_asked(seed: int) -> None:
    async def story(client: Client, world: World) -> None:
        pause = world.chance.uniform

        def second(shop: Deployment) -> None:
            shop.spec.template.spec.containers[0].image = "shop:2"
            shop.spec.replicas = 4

        def third(shop: Deployment) -> None:
            shop.spec.template.spec.containers[0].image = "shop:3"
            shop.spec.replicas = 2

        await client.create(a_deployment())
        await asyncio.sleep(pause(0, 5))
        await changed(client, "default/shop", second)
        await asyncio.sleep(pause(0, 5))
        pods = await client.list(Pod)
        if pods:
            await client.delete(pods[0])
        await asyncio.sleep(pause(0, 2))
        await changed(client, "default/shop", third)
        await asyncio.sleep(120)
        pods = await client.list(Pod)
        assert [pod.spec.containers[0].image for pod in pods] == ["shop:3"] * 2
        shop = await client.get(Deployment, "default/shop")
        assert shop is not None
        assert (shop.status.replicas, shop.status.available_replicas) == (2, 2)
        assert len({pod.status.pod_ip for pod in pods}) == 2
        await client.delete(shop)
        await asyncio.sleep(60)
        assert await client.list(ReplicaSet) == []
        assert await client.list(Pod) == []

    in_any_order(seed, story)


@pytest.mark.parametrize("seed", range(8))
def test_a_stateful_set_that_is_changed_while_it_comes_up_ends_as_it_was_last_asked(seed: int) -> None:
    async def story(client: Client, world: World) -> None:
        pause = world.chance.uniform
        claims = [a_claim_template()]
        await client.create(a_stateful_set(4, volume_claim_templates=claims))
        for image, replicas in (("db:2", 3), ("db:3", 2)):
            await asyncio.sleep(pause(0, 20))
            found = await client.get(StatefulSet, "default/db")
            assert found is not None
            found.spec.template.spec.containers[0].image = image
            found.spec.replicas = replicas
            await client.update(found)
        await asyncio.sleep(pause(0, 5))
        pods = await client.list(Pod)
        if pods:
            await client.delete(pods[-1])
        await asyncio.sleep(240)
        assert {pod.name: pod.spec.containers[0].image for pod in await client.list(Pod)} == {"db-0": "db:3", "db-1": "db:3"}
        found = await client.get(StatefulSet, "default/db")
        assert found is not None
        assert (found.status.ready_replicas, found.status.current_revision) == (2, found.status.update_revision)
        assert all(claim.status.phase == "Bound" for claim in await client.list(PersistentVolumeClaim))

    in_any_order(seed, story)


@pytest.mark.parametrize("seed", range(8))
def test_a_job_does_each_index_and_a_cron_job_starts_nothing_twice(seed: int) -> None:
    async def story(client: Client, world: World) -> None:
        await client.create(a_job(completions=4, parallelism=2, completion_mode="Indexed"))
        await client.create(a_cron_job("* * * * *", successful_jobs_history_limit=10))
        await asyncio.sleep(310)
        job = await client.get(Job, "default/job")
        assert job is not None
        assert (job.status.succeeded, job.status.completed_indexes, job.status.failed) == (4, "0-3", None)
        runs = [found for found in await client.list(Job) if found.name.startswith("cron-")]
        assert len(runs) == 5
        pods = await client.list(Pod)
        for run in runs:
            assert len([pod for pod in pods if pod.name.startswith(run.name)]) == 1

    in_any_order(seed, story)


@pytest.mark.parametrize("seed", range(12))
def test_garbage_goes_and_nothing_else(seed: int) -> None:
    async def story(client: Client, world: World) -> None:
        pause = world.chance.uniform
        top, other = await client.create(a_widget("top")), await client.create(a_map("other"))
        middle = await client.create(a_map("middle", top))
        await client.create(a_widget("shared", middle, other))
        await asyncio.sleep(pause(0, 3))
        await client.create(a_widget("low", middle))
        await client.delete(top)
        successor = await client.create(a_widget("top"))
        await asyncio.sleep(pause(0, 2))
        await client.create(a_map("late", top))
        await client.create(a_map("kept", successor))
        await asyncio.sleep(60)
        assert [found.name for found in await client.list(ConfigMap)] == ["kept", "other"]
        assert [found.name for found in await client.list(Widget)] == ["shared", "top"]
        shared = await client.get(Widget, "default/shared")
        assert shared is not None
        assert [owner.name for owner in shared.metadata.owner_references] == ["other"]

    in_any_order(seed, story)


@pytest.mark.parametrize("seed", range(12))
def test_an_owner_that_waits_goes_last_and_one_that_leaves_things_behind_loses_none(seed: int) -> None:
    async def story(client: Client, world: World) -> None:
        pause = world.chance.uniform
        top, other = await client.create(a_widget("top")), await client.create(a_map("other"))
        middle = await client.create(blocking(a_map("middle", top)))
        await client.create(blocking(a_widget("low", middle, finalizers=["example.com/held"])))
        await client.create(a_widget("shared", middle, other))
        left = await client.create(a_widget("left"))
        await client.create(a_map("orphan", left))
        await asyncio.sleep(pause(0, 2))
        await client.create(blocking(a_map("last", middle)))
        await client.create(a_map("last-orphan", left))
        await client.delete(top, propagation="Foreground")
        await client.delete(left, propagation="Orphan")
        await asyncio.sleep(40)
        assert {found.name: found.is_terminating for found in await client.list(Widget)} == {"low": True, "shared": False, "top": True}
        maps = {found.name: found.metadata for found in await client.list(ConfigMap)}
        assert list(maps) == ["last-orphan", "middle", "orphan", "other"]
        assert maps["orphan"].owner_references == maps["last-orphan"].owner_references == []
        low = await client.get(Widget, "default/low")
        assert low is not None
        low.metadata.finalizers = []
        await client.update(low)
        await asyncio.sleep(40)
        assert [found.name for found in await client.list(Widget)] == ["shared"]
        assert [found.name for found in await client.list(ConfigMap)] == ["last-orphan", "orphan", "other"]

    in_any_order(seed, story)


@pytest.mark.parametrize("seed", range(6))
def test_a_namespace_is_emptied_though_all_sorts_of_things_are_made_in_it(seed: int) -> None:
    async def story(client: Client, world: World) -> None:
        namespace = await client.create(Namespace(metadata=ObjectMeta(name="shop")))
        shop = a_deployment()
        shop.metadata.namespace = "shop"
        await client.create(shop)
        await client.create(a_map("below", await client.create(a_widget("above", namespace="shop")), namespace="shop"))
        await asyncio.sleep(world.chance.uniform(0, 4))
        await client.create(a_map("last", namespace="shop"))
        await client.delete(namespace)
        await asyncio.sleep(60)
        assert await client.get(Namespace, "shop") is None
        assert [*await client.list(Pod), *await client.list(ReplicaSet), *await client.list(ConfigMap), *await client.list(Widget)] == []

    in_any_order(seed, story)


def test_a_cache_that_lags_does_not_make_a_namespace_look_empty() -> None:
    async def story(client: Client, world: World) -> None:
        await asyncio.sleep(100)
        namespace = await client.create(Namespace(metadata=ObjectMeta(name="shop")))
        await client.create(a_map("unseen", namespace="shop"))
        await client.delete(namespace)
        await asyncio.sleep(25)
        assert await client.list(ConfigMap) == []
        assert await client.get(Namespace, "shop") is None

    in_any_order(0, story, lagging="configmaps")


def test_an_owner_that_a_cache_has_not_seen_yet_is_not_taken_for_gone() -> None:
    async def story(client: Client, world: World) -> None:
        await asyncio.sleep(100)
        owner = await client.create(a_map("unseen"))
        await client.create(a_widget("owned", owner))
        await asyncio.sleep(25)
        assert [found.name for found in await client.list(Widget)] == ["owned"]

    in_any_order(0, story, lagging="configmaps")


def test_what_a_cache_has_not_seen_yet_holds_its_owner_and_is_left_behind_all_the_same() -> None:
    async def story(client: Client, world: World) -> None:
        await asyncio.sleep(100)
        waiting, leaving = await client.create(a_widget("waiting")), await client.create(a_widget("leaving"))
        await client.create(blocking(a_map("unseen", waiting, finalizers=["example.com/held"])))
        await client.create(a_map("left", leaving))
        await client.delete(waiting, propagation="Foreground")
        await client.delete(leaving, propagation="Orphan")
        await asyncio.sleep(25)
        assert [found.name for found in await client.list(Widget)] == ["waiting"]
        await asyncio.sleep(60)
        [left, unseen] = await client.list(ConfigMap)
        assert (left.metadata.owner_references, unseen.is_terminating) == ([], True)

    in_any_order(0, story, lagging="configmaps")
