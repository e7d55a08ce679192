"""A kind may be held by several informers, each at its own pace: a run never reads what is older than what has triggered it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest

from setpoint import Context, Controller, ObjectMeta, Request
from setpoint.api import Operation, Outcome, Transport
from setpoint.cache import Cache
from setpoint.client import Connection
from setpoint.k8s.core.v1 import ConfigMap, Secret
from setpoint.objects import Object, Scheme, kind
from setpoint.testing import Cluster
from setpoint.world import World, simulate


class Slow(Transport):
    """The watches that `which` names deliver nothing for an hour; all else is as ever."""

    def __init__(self, inner: Transport, which: Callable[[Operation], bool]) -> None:
        self._inner = inner
        self._which = which

    async def send(self, operation: Operation, /) -> Outcome:
        outcome = await self._inner.send(operation)
        if operation.verb == "watch" and self._which(operation):
            return _Late(outcome)
        return outcome

    async def close(self) -> None:
        await self._inner.close()


class _Late:
    """A stream whose first second is as ever, so that the list gets complete; all that comes afterwards is an hour late."""

    def __init__(self, inner) -> None:
        self._inner = inner
        self._opened = asyncio.get_running_loop().time()

    async def read(self) -> list[bytes] | None:
        frames = await self._inner.read()
        if asyncio.get_running_loop().time() > self._opened + 1:
            await asyncio.sleep(3600)
        return frames

    async def close(self) -> None:
        await self._inner.close()


def of_all(operation: Operation) -> bool:
    return (
        operation.resource is not None
        and operation.resource.resource in ("configmaps", "secrets")
        and not operation.options.get("labelSelector")
    )


def looking(kind_: type, name: str, seen: list, **how) -> Controller:
    controller = Controller(kind_, name=name, **how)

    @controller.reconciler
    async def look(ctx: Context, request: Request) -> None:
        found = await ctx.get(kind_, request)
        listed = {obj.name: obj.data for obj in await ctx.list(kind_, labels={"a": "b"})}
        seen.append((request.name, None if found is None else found.data, listed.get(request.name)))

    return controller


def test_a_run_triggered_by_a_selected_watch_does_not_read_from_a_slower_one_of_all():
    seen: list = []
    with Cluster() as cluster:
        # The watch of all is declared first, and would be the first to be asked.
        cluster.start(
            looking(ConfigMap, "all", []), looking(ConfigMap, "some", seen, labels={"a": "b"}), through=lambda inner: Slow(inner, of_all)
        )
        cluster.advance(timedelta(seconds=5))
        note = cluster.create(ConfigMap(metadata=ObjectMeta(name="note", namespace="default", labels={"a": "b"}), data={"n": "1"}))
        cluster.advance(timedelta(seconds=5))
        assert seen[-1] == ("note", {"n": "1"}, {"n": "1"})
        note.data["n"] = "2"
        cluster.update(note)
        cluster.advance(timedelta(seconds=5))
        assert seen[-1] == ("note", {"n": "2"}, {"n": "2"})
        cluster.delete(note)
        cluster.advance(timedelta(seconds=5))
        assert seen[-1] == ("note", None, None)


def test_a_run_triggered_by_one_of_its_own_watches_does_not_read_from_a_slower_one_of_them():
    """The slower one brings the change later, but need not concern the same key then."""
    seen: list = []
    both = Controller(ConfigMap, name="both", labels={"a": "b"}).watch(ConfigMap, map=lambda _: [])

    @both.reconciler
    async def look(ctx: Context, request: Request) -> None:
        found = await ctx.get(ConfigMap, request)
        listed = {obj.name: obj.data for obj in await ctx.list(ConfigMap)}
        seen.append((None if found is None else found.data, listed.get(request.name)))

    with Cluster() as cluster:
        cluster.start(both, through=lambda inner: Slow(inner, of_all))
        cluster.advance(timedelta(seconds=5))
        note = cluster.create(ConfigMap(metadata=ObjectMeta(name="note", namespace="default", labels={"a": "b"}), data={"n": "1"}))
        cluster.advance(timedelta(seconds=5))
        assert seen[-1] == ({"n": "1"}, {"n": "1"})
        cluster.advance(timedelta(hours=3))  # now both have it
        note.data["n"] = "2"
        cluster.update(note)
        cluster.advance(timedelta(seconds=5))
        assert seen[-1] == ({"n": "2"}, {"n": "2"})
        note.metadata.labels = {"a": "c"}
        note.data["n"] = "3"
        cluster.update(note)
        cluster.advance(timedelta(seconds=5))
        assert seen[-1] == ({"n": "3"}, {"n": "3"})
        cluster.advance(timedelta(hours=3))
        cluster.delete(note)
        cluster.create(ConfigMap(metadata=ObjectMeta(name="note", namespace="default", labels={"a": "b"}), data={"n": "4"}))
        cluster.advance(timedelta(seconds=5))
        assert seen[-1] == ({"n": "4"}, {"n": "4"})


def test_a_run_triggered_by_its_own_metadata_watch_does_not_read_from_its_own_slower_copy():
    seen: list = []
    both = Controller(ConfigMap, name="both")
    both.watch(Secret, map=lambda _: [])
    both.watch(Secret, map=lambda secret: [secret.key], labels={"a": "b"}, metadata_only=True)

    @both.reconciler
    async def look(ctx: Context, request: Request) -> None:
        secret = await ctx.get(Secret, request)
        seen.append(None if secret is None else secret.data)

    with Cluster() as cluster:
        cluster.start(both, through=lambda inner: Slow(inner, of_all))
        cluster.advance(timedelta(seconds=5))
        secret = cluster.create(Secret(metadata=ObjectMeta(name="key", namespace="default", labels={"a": "b"}), data={"n": b"1"}))
        cluster.advance(timedelta(seconds=5))
        assert seen[-1] == {"n": b"1"}
        cluster.advance(timedelta(hours=3))
        secret.data["n"] = b"2"
        cluster.update(secret)
        cluster.advance(timedelta(seconds=5))
        assert seen[-1] == {"n": b"2"}
        cluster.delete(secret)
        cluster.advance(timedelta(seconds=5))
        assert seen[-1] is None


def test_an_apply_is_not_skipped_for_what_a_slower_copy_still_shows():
    child = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "child", "namespace": "default", "labels": {"a": "b"}}}
    keeping = Controller(Secret, name="keeping").watch(ConfigMap, labels={"a": "b"}, map=lambda _: [Request("default", "key")])

    @keeping.reconciler
    async def keep(ctx: Context, request: Request) -> None:
        await ctx.apply({**child, "data": {"n": "1"}}, ConfigMap)

    with Cluster() as cluster:
        cluster.create(Secret(metadata=ObjectMeta(name="key", namespace="default")))
        cluster.start(looking(ConfigMap, "all", []), keeping, through=lambda inner: Slow(inner, of_all))
        cluster.advance(timedelta(hours=3))  # now both have it
        found = cluster.get(ConfigMap, Request("default", "child"))
        found.data["n"] = "spoilt"
        cluster.update(found)
        cluster.advance(timedelta(seconds=5))
        assert cluster.get(ConfigMap, Request("default", "child")).data == {"n": "1"}


def test_a_run_triggered_by_metadata_does_not_read_from_a_slower_copy_of_all():
    seen: list = []
    triggered = Controller(ConfigMap, name="triggered")
    triggered.watch(Secret, map=lambda secret: [secret.key], labels={"a": "b"}, metadata_only=True)

    @triggered.reconciler
    async def look(ctx: Context, request: Request) -> None:
        secret = await ctx.get(Secret, request)
        seen.append(None if secret is None else secret.data)

    with Cluster() as cluster:
        cluster.start(looking(Secret, "all", []), triggered, through=lambda inner: Slow(inner, of_all))
        cluster.advance(timedelta(seconds=5))
        secret = cluster.create(Secret(metadata=ObjectMeta(name="key", namespace="default", labels={"a": "b"}), data={"n": b"1"}))
        cluster.advance(timedelta(seconds=5))
        assert seen[-1] == {"n": b"1"}
        cluster.delete(secret)
        cluster.advance(timedelta(seconds=5))
        assert seen[-1] is None


@kind(group="", version="v1", name="Secret", plural="secrets")
class SecretName(Object):
    """A Secret's metadata."""


@pytest.mark.parametrize("whole_first", [True, False])
def test_who_needs_metadata_alone_shares_the_copy_of_who_needs_more_whoever_comes_first(whole_first: bool):
    async def main(world: World) -> None:
        cache = Cache(Connection(_Nowhere(), world), Scheme())
        one = cache.informer(Secret, metadata_only=not whole_first)
        other = cache.informer(Secret, metadata_only=whole_first)
        assert one is other
        assert one  # though it holds nothing yet
        assert not one.metadata_only
        assert cache.informer(Secret, labels="a=b", metadata_only=True).metadata_only

    simulate(main)


class _Nowhere:
    async def send(self, operation: Operation, /) -> Outcome:
        raise AssertionError("nothing is to be asked")

    async def close(self) -> None:
        """Nothing to let go of."""


def test_a_class_that_reads_metadata_alone_is_served_from_a_copy_of_metadata():
    seen: list = []
    controller = Controller(ConfigMap, name="names")
    controller.watch(Secret, map=lambda secret: [secret.key], metadata_only=True)

    @controller.reconciler
    async def look(ctx: Context, request: Request) -> None:
        found = await ctx.get(SecretName, request)
        seen.append((found and found.name, [each.name for each in await ctx.list(SecretName)]))

    asked: list[Operation] = []

    class Told(Slow):
        async def send(self, operation: Operation, /) -> Outcome:
            asked.append(operation)
            return await super().send(operation)

    with Cluster() as cluster:
        cluster.start(controller, through=lambda inner: Told(inner, lambda operation: False))
        cluster.create(Secret(metadata=ObjectMeta(name="key", namespace="default"), data={"n": b"1"}))
        cluster.advance(timedelta(seconds=5))
    assert seen[-1] == ("key", ["key"])
    assert [operation for operation in asked if operation.verb == "get"] == []
