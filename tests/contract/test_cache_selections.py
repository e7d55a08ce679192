"""What an informer asks for less than everything, every server understands: fields, metadata alone, certain namespaces."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from setpoint.cache import AnyInformer, Cache, Scope
from setpoint.k8s.core.v1 import ConfigMap, Namespace
from setpoint.objects import Object, ObjectMeta, Request, Scheme, decode

from .site import PATIENCE, Site, contract


@asynccontextmanager
async def running(cache: Cache) -> AsyncIterator[None]:
    running = asyncio.create_task(cache.run())
    try:
        async with asyncio.timeout(PATIENCE):
            await cache.synced()
        yield
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def names(informer: AnyInformer) -> list[str]:
    keys = informer.keys()
    return [key.name for key in keys if key.name != "kube-root-ca.crt"]


def config_map(site: Site, name: str, namespace: str = "", **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace=namespace or site.namespace), data=data)


@contract
async def test_fields_select(site: Site) -> None:
    cache = Cache(site.connection, Scheme())
    one = cache.informer(ConfigMap, namespace=site.namespace, fields="metadata.name=one")
    others = cache.informer(ConfigMap, namespace=site.namespace, fields="metadata.name!=one")
    await site.client.create(config_map(site, "one"))
    async with running(cache):
        assert (names(one), names(others)) == (["one"], [])
        await site.client.create(config_map(site, "two"))
        await site.until(lambda: names(others) == ["two"], "what is selected")
        assert names(one) == ["one"]


@contract
async def test_metadata_alone_is_all_that_comes(site: Site) -> None:
    cache = Cache(site.connection, Scheme())
    informer = cache.informer(ConfigMap, namespace=site.namespace, metadata_only=True)
    await site.client.create(config_map(site, "one", k="v" * 10_000))
    async with running(cache):
        await site.client.create(config_map(site, "two", k="w" * 10_000))
        await site.until(lambda: names(informer) == ["one", "two"], "both")
        await site.client.patch(ConfigMap, "two", {"metadata": {"labels": {"l": "m"}}})

        def labels() -> dict[str, str]:
            data = informer.get(Request(site.namespace, "two"))
            assert data is not None
            return decode(Object, data).metadata.labels

        await site.until(lambda: labels() == {"l": "m"}, "the label")
        frames = b"".join(informer.list())
        assert b"vvvv" not in frames
        assert b"wwww" not in frames
        assert informer.size < 5_000
        await site.client.delete(ConfigMap, "one")
        await site.until(lambda: names(informer) == ["two"], "the deletion")


@contract
async def test_namespaces_come_and_go(site: Site) -> None:
    other = f"{site.namespace}-other"
    await site.client.create(Namespace(metadata=ObjectMeta(name=other)))
    await site.client.create(config_map(site, "here"))
    await site.client.create(config_map(site, "there", other))
    cache = Cache(site.connection, Scheme(), scope=Scope([site.namespace]))
    informer = cache.informer(ConfigMap)
    async with running(cache):
        assert names(informer) == ["here"]
        cache.set_namespaces([site.namespace, other])
        await site.until(lambda: sorted(names(informer)) == ["here", "there"], "the other namespace")
        cache.set_namespaces([other])
        assert names(informer) == ["there"]
        await site.client.create(config_map(site, "more", other))
        await site.until(lambda: names(informer) == ["more", "there"], "what happens there")
