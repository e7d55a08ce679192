"""Watches that come and go while a controller runs: a late one hears of all that is there, an ended one costs nothing any more."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from setpoint.controller import Context, Controller, mappers
from setpoint.objects import Request
from setpoint.world import World, simulate

from . import fakes
from .fakes import Gadget, Part, Rig, Stream, gadget, part


def counted(**declared: Any) -> tuple[Controller[Any], list[str]]:
    controller: Controller[Any] = Controller(Gadget, resync=None, **declared)
    runs: list[str] = []

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        runs.append(request.name)

    return controller, runs


def to_its_gadget(obj: Part) -> list[Request]:
    return [Request("ns", obj.name)]


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The resources whose streams were closed."""
    found: list[str] = []

    async def close(self: Stream) -> None:
        found.append(self.resource)

    monkeypatch.setattr(fakes.Stream, "close", close)
    return found


@pytest.mark.parametrize("known", [False, True], ids=["a new informer", "one that has been at work for long"])
def test_a_late_watch_hears_of_every_object_that_is_there_and_then_of_changes(known: bool) -> None:
    controller, runs = counted()
    other: Controller[Any] = Controller(Part, name="other", resync=None)

    @other.reconciler
    async def ignore(ctx: Context, request: Request) -> None:
        return None

    async def main(world: World) -> None:
        rig = Rig(world)
        for name in ("a", "b"):
            rig.server.put(part(name))
        async with rig.running(controller, *([other] if known else [])) as (runtime, *_):
            await asyncio.sleep(30)
            assert runs == []
            await runtime.add_watch(controller.new_watch(Part, map=to_its_gadget))
            await asyncio.sleep(1)
            assert runs == ["a", "b"]
            rig.server.put(part("a", size=2))
            await asyncio.sleep(1)
            assert runs == ["a", "b", "a"]

    simulate(main)


def test_a_watch_that_is_ended_closes_its_stream_and_is_not_opened_again(closed: list[str]) -> None:
    controller, runs = counted()

    async def main(world: World) -> None:
        rig = Rig(world)
        rig.server.put(part("a"))
        async with rig.running(controller) as (runtime,):
            watch = controller.new_watch(Part, map=to_its_gadget)
            for _ in range(2):
                runs.clear()
                await runtime.add_watch(watch)
                await asyncio.sleep(1)
                assert runs == ["a"]
                closed.clear()
                await runtime.remove_watch(watch)
                assert closed == ["parts"]
                assert [informer.info.plural for informer in rig.cache.informers] == ["gadgets"]
                rig.server.put(part("a", size=5))
                rig.server.put(part("b"))
                rig.server.cut()
                rig.server.operations.clear()
                await asyncio.sleep(600)
                assert runs == ["a"]
                assert not [operation for operation in rig.server.operations if operation.resource.resource == "parts"]
                rig.server.remove(part("b"))
            with pytest.raises(LookupError, match="or has ended it"):
                await runtime.remove_watch(watch)

    simulate(main)


def test_an_informer_that_others_need_outlives_the_watch(closed: list[str]) -> None:
    first, _ = counted(owns=[Part])
    second, runs = counted(name="second")

    async def main(world: World) -> None:
        rig = Rig(world)
        rig.server.put(part("a"))
        async with rig.running(first, second) as (_, runtime):
            one = second.new_watch(Part, map=to_its_gadget)
            two = second.new_watch(Part, map=to_its_gadget, predicate=None)
            await runtime.add_watch(one)
            await runtime.add_watch(two)
            await runtime.remove_watch(one)
            await runtime.remove_watch(two)
            assert closed == []
            assert [informer.info.plural for informer in rig.cache.informers] == ["gadgets", "parts"]
            await asyncio.sleep(1)
            runs.clear()
            rig.server.put(part("a", size=3))
            await asyncio.sleep(1)
            assert runs == []

    simulate(main)


def test_a_late_watch_that_is_given_up_while_its_kind_is_missing_leaves_nothing_behind() -> None:
    controller, _ = counted()

    async def main(world: World) -> None:
        rig = Rig(world)
        async with rig.running(controller) as (runtime,):
            rig.server.mischief = lambda operation: fakes.NOT_SENT if operation.resource.resource == "parts" else None
            waiting = asyncio.create_task(runtime.add_watch(controller.new_watch(Part, map=to_its_gadget)))
            await asyncio.sleep(100)
            assert not waiting.done()
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            assert [informer.info.plural for informer in rig.cache.informers] == ["gadgets"]
            assert runtime.has_synced

    simulate(main)


def test_a_late_watch_takes_ready_made_mappers_and_changes_nothing_of_the_declaration() -> None:
    controller, runs = counted()

    async def main(world: World) -> None:
        rig = Rig(world)
        for name in "ab":
            rig.server.put(gadget(name))
        async with rig.running(controller) as (runtime,):
            await asyncio.sleep(1)
            runs.clear()
            await runtime.add_watch(controller.new_watch(Part, map=mappers.to_all(Gadget)))
            rig.server.put(part("x"))
            await asyncio.sleep(1)

    simulate(main)
    assert runs == ["a", "b"]
    assert controller.watches == ()
    assert controller.kinds == (Gadget,)
