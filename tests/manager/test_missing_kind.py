"""A kind that is not there, or goes and comes again: it is waited for, and which is said; what is there is worked on meanwhile."""

import asyncio
import logging

import pytest

from setpoint import Context, Controller, ObjectMeta, Request, Resource, Struct, kind
from setpoint.client import Client, Connection, verbs
from setpoint.client.install import DEFINITION, install
from setpoint.cluster import ControlPlane
from setpoint.k8s.core.v1 import ConfigMap
from setpoint.manager import Manager, Options
from setpoint.manager.health import TROUBLED
from setpoint.world import World, simulate


class ShelfSpec(Struct):
    boards: int = 1


class ShelfStatus(Struct):
    boards: int = 0


@kind(group="test.example.com", version="v1", plural="shelves")
class Shelf(Resource[ShelfSpec, ShelfStatus]):
    """A kind of our own."""


def shelf(name: str) -> Shelf:
    return Shelf(metadata=ObjectMeta(name=name, namespace="default"), spec=ShelfSpec(boards=3))


def managed(main, seed=0):
    """Runs `main(manager, client, seen)` with a manager whose controllers watch Shelves, which are not there, and ConfigMaps."""

    async def body(world: World):
        async with ControlPlane(world) as plane:
            manager = Manager(Connection(plane.transport(), world), options=Options())
            seen: list[str] = []
            for what in (Shelf, ConfigMap):
                controller = Controller(what, name=what.__name__.lower())

                @controller.reconciler
                async def reconcile(ctx: Context, request: Request, what=what) -> None:
                    if await ctx.get(what, request) is not None:
                        seen.append(request.name)

                manager.add(controller)
            async with manager.running():
                return await main(manager, Client(Connection(plane.transport(), world)), seen)

    return simulate(body, seed=seed)


async def until(condition, seconds: float = 60) -> float:
    loop = asyncio.get_running_loop()
    began = loop.time()
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.05)
    return loop.time() - began


@pytest.mark.parametrize("seed", range(5))
def test_a_kind_that_is_installed_three_seconds_later_is_reconciled(seed):
    async def main(manager, client, seen):
        await client.create(ConfigMap(metadata=ObjectMeta(name="one", namespace="default")))
        await until(lambda: "one" in seen)  # nobody waits for somebody else's kind
        await asyncio.sleep(3)
        (problem,) = manager.problems
        assert "Controller 'shelf' waits for test.example.com/v1, Kind=Shelf" in problem
        assert "CustomResourceDefinition" in problem
        await install(client, [Shelf])
        await client.create(shelf("low"))
        took = await until(lambda: "low" in seen)
        assert manager.problems == []
        assert manager.health.ready["caches"]() is None
        return took

    assert managed(main, seed) < 5


def test_which_kind_is_waited_for_is_said_while_it_is(caplog):
    async def main(manager, client, seen):
        await asyncio.sleep(61)
        await install(client, [Shelf])
        await until(lambda: manager.has_started)
        caplog.clear()
        await asyncio.sleep(600)
        return caplog.text

    with caplog.at_level(logging.WARNING, logger="setpoint.manager"):
        assert "waits for" not in managed(main)


def test_a_kind_that_goes_and_comes_again_while_it_runs_is_reconciled_again():
    async def main(manager, client, seen):
        await install(client, [Shelf])
        await client.create(shelf("first"))
        await until(lambda: "first" in seen)
        await client.connection.call(verbs.delete(DEFINITION, Request("", "shelves.test.example.com")))
        await asyncio.sleep(TROUBLED + 45)
        said = manager.health.ready["caches"]()
        assert said is not None
        assert "shelves.test.example.com" in said
        await client.create(ConfigMap(metadata=ObjectMeta(name="meanwhile", namespace="default")))
        await until(lambda: "meanwhile" in seen)
        await install(client, [Shelf])
        await client.create(shelf("second"))
        await until(lambda: "second" in seen)
        assert manager.health.ready["caches"]() is None
        return seen

    assert managed(main) == ["first", "meanwhile", "second"]
