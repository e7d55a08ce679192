"""What an informer tells and answers, and which informer answers a read."""

import asyncio
import contextvars

import pytest

from setpoint.api import LabelSelector
from setpoint.cache import Cache, IndexFailed, Scanned
from setpoint.client.connection import Connection
from setpoint.objects import Object, kind
from setpoint.objects.indexes import Index
from setpoint.objects.scheme import Scheme, SchemeConflict
from setpoint.world import simulate

from .model import ModelServer, Setup, Told, Widget


def server_with(*names):
    server = ModelServer()
    for name in names:
        server.put(name)
    return server


def test_a_late_handler_is_told_of_the_whole_store_as_initial():
    async def main(world):
        server = server_with("a", "b")
        setup = await Setup(world, server).synced()
        late = Told()
        setup.informer.subscribe(late)
        assert late.names == ["+a", "+b"]
        assert all(change.initial for change in late.changes)
        server.put("a")
        await asyncio.sleep(1)
        assert late.state == setup.told.state == server.state
        assert not late.changes[-1].initial

    simulate(main)


def test_a_handler_that_has_gone_is_told_no_more():
    async def main(world):
        server = server_with("a")
        setup = await Setup(world, server).synced()
        gone = Told()
        setup.informer.subscribe(gone)()
        server.put("b")
        await asyncio.sleep(1)
        assert gone.names == ["+a"]

    simulate(main)


def test_a_recreated_object_is_a_deletion_and_a_creation_also_where_a_relist_shows_only_the_outcome():
    async def main(world):
        server = server_with("a")
        setup = await Setup(world, server).synced()
        server.hold()
        server.delete("a")
        server.put("a")
        server.forget()
        server.cut()
        server.release()
        await asyncio.sleep(5)
        assert setup.told.names == ["+a", "-a", "+a"]

    simulate(main)


def test_lists_are_ordered_by_namespace_and_name_whatever_came_first():
    async def main(world):
        server = ModelServer()
        for name, namespace in (("b", "two"), ("c", "one"), ("a", "two"), ("a", "one")):
            server.put(name, namespace=namespace)
        setup = await Setup(world, server).synced()
        server.put("b", namespace="one")
        await asyncio.sleep(1)
        assert setup.names() == ["a", "b", "c", "a", "b"]
        assert setup.names(namespace="two") == ["a", "b"]
        assert setup.names(namespace="three") == []

    simulate(main)


def test_a_selected_informer_follows_what_enters_and_leaves_its_selection():
    async def main(world):
        server = ModelServer()
        server.put("a", labels={"app": "x"})
        server.put("b", labels={"app": "y"})
        setup = await Setup(world, server, labels="app=x").synced()
        server.put("b", labels={"app": "x"})
        server.put("a", labels={"app": "y"})
        await asyncio.sleep(1)
        assert setup.told.names == ["+a", "+b", "-a"]
        assert setup.informer.is_filtered

    simulate(main)


def test_a_declared_index_finds_what_its_function_says_and_a_failure_of_it_is_told():
    def first_letter(obj):
        return [obj.name[0]] if obj.name != "bad" else 1 / 0

    async def main(world):
        by_letter = Index(Widget, first_letter)
        server = server_with("apple", "avocado", "bad", "banana")
        failed = []
        world.observer.subscribe(lambda event: failed.append(event.key.name) if isinstance(event, IndexFailed) else None)
        setup = await Setup(world, server).synced()
        setup.informer.index(by_letter)
        assert setup.names(index=by_letter("a")) == ["apple", "avocado"]
        assert setup.names(index=by_letter("b")) == ["banana"]
        assert failed == ["bad"]
        server.put("artichoke")
        server.delete("apple")
        await asyncio.sleep(1)
        assert setup.names(index=by_letter("a"), namespace="default") == ["artichoke", "avocado"]

    simulate(main)


def test_a_scan_of_many_objects_is_said_once():
    async def main(world):
        server = ModelServer()
        for number in range(1200):
            server.put(f"w{number:04}", labels={"half": "low" if number < 600 else "high"})
        setup = await Setup(world, server).synced()
        scans = []
        world.observer.subscribe(lambda event: scans.append(event.objects) if isinstance(event, Scanned) else None)
        for half in ("high", "low"):
            assert len(setup.informer.list(labels=LabelSelector.parse(f"half={half}"))) == 600
        assert scans == [1200]

    simulate(main)


def test_a_declaration_is_idempotent_and_one_made_while_the_cache_runs_starts_at_once_without_the_callers_context():
    leak = contextvars.ContextVar("leak", default="nothing")

    async def main(world):
        server = server_with("a")
        setup = await Setup(world, server).synced()
        assert setup.cache.informer(Widget) is setup.informer
        seen = []
        original = server.send

        async def send(operation):
            seen.append(leak.get())
            return await original(operation)

        server.send = send
        leak.set("a run of a reconciler")
        other = setup.cache.informer(Widget, labels="app=x")
        await setup.cache.synced()
        assert other.has_synced
        assert other is not setup.informer
        assert "a run of a reconciler" not in seen
        assert setup.cache.informers == [setup.informer, other]

    simulate(main)


def test_two_classes_for_one_kind_are_refused():
    @kind(group="example.com", version="v1", name="Widget")
    class Other(Object):
        pass

    async def main(world):
        cache = Cache(Connection(ModelServer(), world), Scheme())
        cache.informer(Widget)
        with pytest.raises(SchemeConflict):
            cache.informer(Other)

    simulate(main)


@pytest.mark.parametrize(
    ("declared", "namespace", "labels", "covered"),
    [
        ({}, None, "", True),
        ({}, "here", "app=x", True),
        ({"namespace": "here"}, "here", "", True),
        ({"namespace": "here"}, None, "", False),
        ({"namespace": "here"}, "there", "", False),
        ({"labels": "app=x"}, None, "", False),
        ({"labels": "app=x"}, None, "app=x", True),
        ({"labels": "app=x"}, None, "app=x,tier=web", True),
        ({"labels": "app=x"}, None, "app=y", False),
        ({"labels": "app=x,tier=web"}, None, "app=x", False),
        ({"fields": "metadata.name=a"}, None, "", False),
    ],
)
def test_a_read_is_answered_by_an_informer_that_holds_all_it_may_find(declared, namespace, labels, covered):
    async def main(world):
        cache = Cache(Connection(ModelServer(), world), Scheme())
        informer = cache.informer(Widget, **declared)
        assert cache.covers(informer, namespace, LabelSelector.parse(labels)) is covered

    simulate(main)


@pytest.mark.parametrize("end", ["release", "forget"])
def test_who_waits_for_an_informer_that_nobody_needs_any_more_does_not_wait_for_ever(end):
    async def main(world):
        cache = Cache(Connection(server_with("a"), world), Scheme())
        informer = cache.informer(Widget)
        running = asyncio.create_task(cache.run())
        await cache.synced()
        waiting = asyncio.create_task(informer.reached(1_000_000))
        await asyncio.sleep(1)
        assert not waiting.done()
        await (cache.release(informer) if end == "release" else cache.forget(Widget))
        async with asyncio.timeout(1):
            await waiting
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    simulate(main)


def test_keys_as_they_came_are_the_keys():
    async def main(world):
        setup = await Setup(world, server_with("b", "a", "c")).synced()
        assert sorted(setup.informer.keys_as_they_came()) == sorted(setup.informer.keys())

    simulate(main)
