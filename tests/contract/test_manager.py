"""A whole manager: it converges, repairs what others break, and has nothing to write when nothing has changed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from setpoint.controller import Context, Controller
from setpoint.k8s.core.v1 import ConfigMap
from setpoint.manager import Manager, Options
from setpoint.objects import Request

from .kinds import Gadget, GadgetSpec
from .site import PATIENCE, Plane, Site, contract


def controller() -> Controller[Gadget]:
    """As many ConfigMaps as a gadget has size, and their count in its status."""
    declared = Controller(Gadget, name="parts", owns=[ConfigMap])

    @declared.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        gadget = await ctx.get(Gadget, request)
        if gadget is None or gadget.is_terminating:
            return
        wanted = [f"{gadget.name}-{number}" for number in range(gadget.spec.size)]
        parts = []
        for name in wanted:
            part = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"host": gadget.spec.host}}
            parts.append(await ctx.apply(part, ConfigMap, owner=gadget))
        for part in await ctx.list(ConfigMap, namespace=gadget.namespace, owner=gadget):
            if part.name not in wanted:
                await ctx.delete(part)
        gadget.status.ready = len(parts)
        gadget.status.observed_generation = gadget.metadata.generation
        ctx.set_condition(gadget, "Ready", True, reason="Made")
        await ctx.update_status(gadget)

    return declared


@asynccontextmanager
async def managed(site: Site) -> AsyncIterator[Manager]:
    manager = Manager(site.connection, options=Options(namespace=site.namespace))
    manager.add(controller())
    running = asyncio.create_task(manager.run())
    try:
        await site.until(lambda: manager.has_started or running.done(), "the start")
        yield manager
    finally:
        manager.stop()
        await running


async def ready(site: Site, name: str, size: int) -> bool:
    gadget = await site.client.get(Gadget, name)
    return gadget is not None and gadget.status.ready == size and gadget.status.observed_generation == gadget.metadata.generation


async def parts(site: Site) -> dict[str, str]:
    found = await site.client.list(ConfigMap, namespace=site.namespace)
    return {part.name: part.data["host"] for part in found if part.metadata.owner_references}


async def resync(site: Site, manager: Manager) -> None:
    """Runs every key once more, to the end."""
    (runtime,) = manager.controllers
    for gadget in await site.client.list(Gadget, namespace=site.namespace):
        runtime.queue.add(gadget.key, "a forced resync")
    await site.until(lambda: manager.is_idle, "the end of the resync")


@contract
async def test_a_manager_converges_and_repairs(site: Site) -> None:
    await site.client.create(Gadget(metadata=site.meta("early"), spec=GadgetSpec(size=2)))
    async with managed(site) as manager:
        await site.client.create(Gadget(metadata=site.meta("late"), spec=GadgetSpec(size=1, host="here")))
        await site.until(lambda: ready(site, "early", 2), "the first")
        await site.until(lambda: ready(site, "late", 1), "the second")
        assert await parts(site) == {"early-0": "localhost", "early-1": "localhost", "late-0": "here"}

        await site.client.delete(ConfigMap, "early-1")
        await site.client.patch(ConfigMap, "late-0", {"data": {"host": "elsewhere"}})
        await site.client.patch(Gadget, "early", {"spec": {"size": 3, "host": "there"}})
        wanted = {"early-0": "there", "early-1": "there", "early-2": "there", "late-0": "here"}

        async def repaired() -> bool:
            return await parts(site) == wanted

        await site.until(repaired, "the repair")
        await site.client.patch(Gadget, "early", {"spec": {"size": 1}})
        await site.until(lambda: ready(site, "early", 1), "less of it")
        await site.until(lambda: manager.is_idle, "rest")
        assert sorted(await parts(site)) == ["early-0", "late-0"]


@contract
async def test_three_resyncs_write_nothing(site: Site) -> None:
    for number in range(3):
        await site.client.create(Gadget(metadata=site.meta(f"g{number}"), spec=GadgetSpec(size=number)))
    async with managed(site) as manager:
        for number in range(3):
            await site.until(partial(ready, site, f"g{number}", number), "all")
        await site.until(lambda: manager.is_idle, "rest")
        before = await versions(site)
        site.sent.clear()
        for _ in range(3):
            await resync(site, manager)
        assert site.writes == []
        assert await versions(site) == before
    async with managed(site) as manager:
        await site.until(lambda: manager.is_idle, "rest of another process, which remembers nothing")
        assert await versions(site) == before


async def versions(site: Site) -> dict[str, str | None]:
    gadgets, configs = await site.client.list(Gadget, namespace=site.namespace), await site.client.list(ConfigMap, namespace=site.namespace)
    return {obj.name: obj.metadata.resource_version for obj in (*gadgets, *configs)}


def test_what_an_owner_owns_goes_with_it(whole_plane: Plane) -> None:
    async def goes(site: Site) -> None:
        async with managed(site):
            kept = await site.client.create(ConfigMap(metadata=site.meta("kept")))
            for name in ("a", "b"):
                await site.client.create(Gadget(metadata=site.meta(name), spec=GadgetSpec(size=2)))
                await site.until(partial(ready, site, name, 2), "all")
            await site.client.delete(Gadget, "a")

            async def collected() -> bool:
                return sorted(await parts(site)) == ["b-0", "b-1"]

            # A real garbage collector looks for new kinds every 30 s, and does not know ours before that.
            await site.until(collected, "the collection", patience=3 * PATIENCE)
            assert await site.client.get(ConfigMap, "kept") == kept

    whole_plane.run(goes)
