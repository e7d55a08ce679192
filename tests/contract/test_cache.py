"""The cache's informers follow the server, through cuts and forgotten versions, and show own writes at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from setpoint.cache import Cache, Informer
from setpoint.objects import Request, Scheme, decode, kind_of

from .kinds import GROUP, Gadget, GadgetSpec
from .site import PATIENCE, Site, contract


@asynccontextmanager
async def informer(site: Site, labels: str = "") -> AsyncIterator[Informer]:
    cache = Cache(site.connection, Scheme())
    informer = cache.informer(Gadget, namespace=site.namespace, labels=labels)
    running = asyncio.create_task(cache.run())
    try:
        async with asyncio.timeout(PATIENCE):
            await cache.synced()
        yield informer
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def state(informer: Informer) -> dict[str, str]:
    gadgets = [decode(Gadget, data) for data in informer.list()]
    return {gadget.name: gadget.metadata.labels.get("value", "") for gadget in gadgets}


async def put(site: Site, name: str, value: str) -> Gadget:
    return await site.client.apply(Gadget(metadata=site.meta(name, labels={"value": value}), spec=GadgetSpec(size=1)))


@contract
async def test_an_informer_follows_what_happens(site: Site) -> None:
    await put(site, "before", "1")
    async with informer(site) as informed:
        assert state(informed) == {"before": "1"}
        await put(site, "before", "2")
        await put(site, "after", "1")
        await site.until(lambda: state(informed) == {"before": "2", "after": "1"}, "the changes")
        await site.client.delete(Gadget, "before")
        await site.until(lambda: state(informed) == {"after": "1"}, "the deletion")


@contract
async def test_an_informer_that_is_cut_goes_on_where_it_was(site: Site) -> None:
    await put(site, "a", "1")
    async with informer(site) as informed:
        seen: list[tuple[str, bool, bool]] = []
        informed.subscribe(lambda change: seen.append((change.key.name, change.old is None, change.new is None)))
        lists = site.line.lists
        await site.client.delete(Gadget, "a")
        site.line.cut()
        await put(site, "b", "1")
        await site.until(lambda: state(informed) == {"b": "1"}, "what happened in the cut")
        assert seen == [("a", True, False), ("a", False, True), ("b", True, False)]
        assert site.line.lists == lists


@contract
async def test_an_informer_whose_version_is_forgotten_lists_anew_and_infers_what_is_gone(site: Site) -> None:
    for name in ("a", "b"):
        await put(site, name, "1")
    async with informer(site) as informed:
        seen: list[tuple[str, bool]] = []
        lists = site.line.lists
        site.line.cut(expired=True)
        informed.subscribe(lambda change: seen.append((change.key.name, change.new is None)))
        await site.client.delete(Gadget, "a")
        await put(site, "c", "1")
        if site.server is not None:
            site.server.compact()
        await site.until(lambda: state(informed) == {"b": "1", "c": "1"}, "the state after the cut")
        await site.until(lambda: site.line.lists > lists, "another list")
        assert ("a", True) in seen
        await put(site, "b", "2")
        await site.until(lambda: state(informed) == {"b": "2", "c": "1"}, "a change after the list")


@contract
async def test_an_informer_of_a_selection_knows_what_is_in_it(site: Site) -> None:
    await put(site, "in", "yes")
    await put(site, "out", "no")
    async with informer(site, labels="value=yes") as informed:
        assert state(informed) == {"in": "yes"}
        await put(site, "in", "no")
        await put(site, "out", "yes")
        await site.until(lambda: state(informed) == {"out": "yes"}, "what entered and left")


@contract
async def test_an_own_write_is_seen_before_the_watch_tells_of_it(site: Site) -> None:
    async with informer(site) as informed:
        wanted = {"apiVersion": f"{GROUP}/v1", "kind": "Gadget", "metadata": {"name": "own"}, "spec": {"size": 1}}
        body = await site.client.create_raw(kind_of(Gadget), site.namespace, msgspec.json.encode(wanted))
        informed.wrote(body)
        assert list(state(informed)) == ["own"]
        version = decode(Gadget, body).metadata.resource_version or "0"
        async with asyncio.timeout(PATIENCE):
            await informed.reached(int(version))
        assert informed.base(Request(site.namespace, "own")) is not None
        assert list(state(informed)) == ["own"]
