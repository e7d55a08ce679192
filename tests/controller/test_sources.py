"""Sources: what they give is enqueued like anything else, and nothing that happens to one of them ends anything."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import itertools
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from setpoint.controller import Context, Controller, Every, Feed, QueueAdded, Reader, SourceFailed
from setpoint.controller.sources import Schedule, Ticks
from setpoint.objects import Request
from setpoint.world import World, simulate

from .fakes import Gadget, Rig, Zone, gadget, overlaps

A, B = Request("ns", "a"), Request("ns", "b")


def counted(kind: type[Any] = Gadget, **declared: Any) -> tuple[Controller[Any], list[str]]:
    """A controller that does nothing, and the keys that it ran."""
    controller: Controller[Any] = Controller(kind, **{"resync": None, **declared})
    runs: list[str] = []

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        runs.append(str(request))

    return controller, runs


def story(controller: Controller[Any], *steps: Callable[[Rig], None], seconds: float = 60) -> Rig:
    """Lets the controller run on the gadget `a`, so many seconds after the start and after each step."""

    async def main(world: World) -> Rig:
        rig = Rig(world)
        rig.server.put(gadget("a"))
        async with rig.running(controller):
            await asyncio.sleep(seconds)
            for step in steps:
                step(rig)
                await asyncio.sleep(seconds)
        return rig

    return simulate(main)


def put_b(rig: Rig) -> None:
    rig.server.put(gadget("b"))


def reasons(rig: Rig) -> list[str]:
    return [event.reason for event in rig.heard(QueueAdded)]


# ---- external sources


def test_what_a_source_gives_runs_like_any_other_key() -> None:
    controller, runs = counted()

    @controller.source
    async def messages() -> AsyncIterator[Request]:
        await asyncio.sleep(1)
        yield A
        await asyncio.sleep(1)
        yield Request("ns", "gone")
        await asyncio.sleep(1000)

    rig = story(controller)
    assert runs == ["ns/a", "ns/a", "ns/gone"]
    assert reasons(rig) == ["Gadget ns/a listed", "source messages", "source messages"]


def test_a_source_reads_the_cache_and_knows_the_keys_and_the_time() -> None:
    controller, runs = counted()
    seen: list[Any] = []

    @controller.source(finite=True)
    async def everything(feed: Feed) -> AsyncIterator[Request]:
        seen.append((feed.now().isoformat(), [obj.name for obj in await feed.list(Gadget)]))
        await asyncio.sleep(10)
        for key in feed.primary_keys():
            yield key

    rig = story(controller)
    assert runs == ["ns/a", "ns/a"]
    assert len(seen) == 1  # it was called when the cache was complete, and it may end
    assert seen[0][1] == ["a"]
    assert rig.heard(SourceFailed) == []


@pytest.mark.parametrize("error", [RuntimeError("broker away"), SystemExit(3), asyncio.CancelledError("by itself"), None], ids=repr)
def test_a_source_that_raises_or_ends_is_opened_again_with_backoff_and_its_controller_goes_on(
    error: BaseException | None, caplog: pytest.LogCaptureFixture
) -> None:
    controller, runs = counted()
    opened: list[float] = []

    @controller.source
    async def flaky() -> AsyncIterator[Request]:
        opened.append(asyncio.get_running_loop().time())
        yield A
        if error is not None:
            raise error

    with caplog.at_level(logging.ERROR):
        rig = story(controller, put_b, seconds=200)
    pauses = [later - earlier for earlier, later in itertools.pairwise(opened)]
    assert [round(pause, 1) for pause in pauses[:3]] == [
        pytest.approx(0.1, abs=0.1),
        pytest.approx(0.2, abs=0.1),
        pytest.approx(0.4, abs=0.1),
    ]
    assert max(pauses) <= 60.1
    assert runs.count("ns/b") == 1
    failures = rig.heard(SourceFailed)
    assert len(failures) == len(opened)
    assert {failure.source for failure in failures} == {"flaky"}
    assert "the source flaky failed, and is tried again in" in caplog.text


def test_the_backoff_of_a_source_that_was_well_for_a_while_begins_anew() -> None:
    controller, _ = counted()

    @controller.source
    async def hourly() -> AsyncIterator[Request]:
        yield A
        await asyncio.sleep(3600)
        raise ConnectionError("reset")

    rig = story(controller, seconds=36_100)
    assert [failure.retry_after <= 0.2 for failure in rig.heard(SourceFailed)] == [True] * 10


def test_a_source_that_never_waits_does_not_hold_up_the_loop() -> None:
    controller, runs = counted()

    @controller.source
    async def torrent() -> AsyncIterator[Request]:
        for number in range(100_000):
            yield Request("ns", f"n{number % 7}")
        await asyncio.sleep(1000)

    story(controller)
    assert len(runs) > 100  # it had turns while the torrent went on
    assert set(runs) == {"ns/a", *(f"ns/n{number}" for number in range(7))}


def test_a_source_is_closed_on_stop_and_its_finally_has_run_when_stop_returns() -> None:
    controller, _ = counted()
    closed: list[str] = []

    @controller.source
    async def generator() -> AsyncIterator[Request]:
        try:
            yield A
            await asyncio.sleep(1_000_000)
        finally:
            await asyncio.sleep(5)
            closed.append("generator")

    class Consumer:
        """An iterator that is no generator."""

        def __aiter__(self) -> Consumer:
            return self

        async def __anext__(self) -> Request:
            await asyncio.sleep(1_000_000)
            return A

        async def aclose(self) -> None:
            closed.append("consumer")

    controller.source(name="consumer")(lambda: Consumer())

    async def main(world: World) -> None:
        rig = Rig(world)
        async with rig.running(controller) as (runtime,):
            await asyncio.sleep(10)
            await runtime.stop()
            assert sorted(closed) == ["consumer", "generator"]
            rig.events.clear()
            await asyncio.sleep(3600)
            assert rig.heard(SourceFailed) == []

    simulate(main)


def test_a_source_that_will_not_be_cancelled_is_left_after_its_next_request() -> None:
    controller, runs = counted()

    @controller.source
    async def stubborn() -> AsyncIterator[Request]:
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(50)
            yield A

    story(controller)
    assert runs == ["ns/a", "ns/a"]


def test_a_request_that_cannot_be_a_key_is_left_out_and_said_once(caplog: pytest.LogCaptureFixture) -> None:
    controller, runs = counted()

    @controller.source
    async def mixed() -> AsyncIterator[Request]:
        yield Request("", "a")
        yield Request("", "b")
        yield Request("ns", "")
        yield A
        await asyncio.sleep(1000)

    with caplog.at_level(logging.WARNING):
        rig = story(controller)
    assert runs.count("ns/a") >= 1
    assert set(runs) == {"ns/a"}
    assert caplog.text.count("in which namespace is Gadget 'a'?") == 1
    assert rig.heard(SourceFailed) == []


def test_what_is_no_request_is_a_failure_of_the_source() -> None:
    controller, runs = counted()

    @controller.source  # type: ignore[type-var]  # which is the point
    async def wrong() -> AsyncIterator[str]:
        yield "ns/a"

    rig = story(controller)
    assert runs == ["ns/a"]
    assert "takes a Request(namespace, name), not 'ns/a'" in rig.heard(SourceFailed)[0].error


def test_one_declaration_is_opened_once_for_each_running_controller() -> None:
    controller, runs = counted()
    opened: list[str] = []

    @controller.source
    async def messages() -> AsyncIterator[Request]:
        opened.append("opened")
        await asyncio.sleep(1)
        yield A
        await asyncio.sleep(1000)

    story(controller)
    story(controller)
    assert opened == ["opened"] * 2
    assert runs == ["ns/a"] * 4


def test_l1_a_run_asked_for_by_a_source_carries_nothing_of_it() -> None:
    leak: contextvars.ContextVar[str] = contextvars.ContextVar("of_the_source", default="clean")
    controller: Controller[Gadget] = Controller(Gadget)
    seen: list[tuple[str, str | None]] = []

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        task = asyncio.current_task()
        seen.append((leak.get(), task and task.get_name()))

    @controller.source
    async def messages() -> AsyncIterator[Request]:
        leak.set("message 7")
        await asyncio.sleep(1)
        yield A
        await asyncio.sleep(1000)

    rig = story(controller)
    assert seen == [("clean", "gadget")] * 2
    assert not overlaps(rig.events)


async def _no_yield() -> AsyncIterator[Request]:
    raise AssertionError


def _plain() -> Any:
    yield A


async def _two(feed: Feed, more: int) -> AsyncIterator[Request]:
    yield A


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (_no_yield, 'has no "yield"'),
        (_plain, "is a plain generator"),
        (_two, "it is called with nothing, or with a Feed"),
        (7, "is not a function"),
        (Every, "is not a function"),
    ],
)
def test_a_source_that_cannot_be_opened_is_refused_at_the_declaration(source: Any, says: str) -> None:
    with pytest.raises(TypeError, match=says):
        Controller(Gadget).source(source)


def test_two_sources_of_one_name_are_refused_with_the_remedy() -> None:
    controller = Controller(Gadget)
    controller.source(Every(seconds=5))
    with pytest.raises(ValueError, match="give one of them another name, with name="):
        controller.source(Every(seconds=5))
    controller.source(Every(seconds=5, name="again"))
    assert [source.name for source in controller.sources] == ["every 5 s", "again"]


# ---- intervals


def test_an_interval_enqueues_every_object_of_the_kind() -> None:
    controller, runs = counted()
    controller.source(Every(seconds=30))
    rig = story(controller, put_b, seconds=100)
    assert runs == ["ns/a"] * 4 + ["ns/b"] + ["ns/a", "ns/b"] * 3
    assert reasons(rig)[1] == "every 30 s"


@pytest.mark.parametrize("is_async", [True, False])
def test_an_interval_enqueues_what_its_function_gives(is_async: bool) -> None:
    async def bees(reader: Reader) -> list[Request]:
        return [obj.key for obj in await reader.list(Gadget) if obj.name == "b"]

    def always_b() -> list[Request]:
        return [B]

    controller, runs = counted()
    controller.source(Every(seconds=30, keys=bees if is_async else always_b))
    story(controller, put_b, seconds=45)
    assert runs == (["ns/a", "ns/b", "ns/b"] if is_async else ["ns/a", "ns/b", "ns/b", "ns/b"])


def test_jitter_makes_intervals_longer_and_shorter_by_that_fraction() -> None:
    controller, _ = counted()
    controller.source(Every(seconds=100, jitter=0.2))
    times: list[float] = []

    async def main(world: World) -> None:
        rig = Rig(world)
        rig.server.put(gadget("a"))
        world.observer.subscribe(lambda event: isinstance(event, QueueAdded) and times.append(asyncio.get_running_loop().time()))
        async with rig.running(controller):
            await asyncio.sleep(100_000)

    simulate(main)
    pauses = [later - earlier for earlier, later in itertools.pairwise(times[1:])]
    assert 79 <= min(pauses) < 85
    assert 115 < max(pauses) <= 121


def test_a_tick_whose_function_fails_is_not_lost_and_ticks_meanwhile_are_one() -> None:
    calls: list[float] = []

    def ask() -> list[Request]:
        calls.append(asyncio.get_running_loop().time())
        if len(calls) <= 5:
            raise ConnectionError("away")
        return [B]

    controller, runs = counted()
    controller.source(Every(seconds=1, keys=ask))
    rig = story(controller, seconds=6)
    assert [round(at, 1) for at in calls[:3]] == [pytest.approx(1.0, abs=0.1), pytest.approx(1.1, abs=0.1), pytest.approx(1.3, abs=0.1)]
    assert len(rig.heard(SourceFailed)) == 5
    assert runs[0] == "ns/a"
    assert 2 <= runs.count("ns/b") <= 4


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (lambda: Every(seconds=0), "above 0"),
        (lambda: Every(seconds=float("nan")), "above 0"),
        (lambda: Every(seconds=float("inf")), "above 0"),
        (lambda: Every(seconds=5, jitter=1), "a fraction"),
    ],
)
def test_what_is_no_interval_is_refused(made: Callable[[], Every], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        made()


def test_a_function_of_keys_that_cannot_be_called_is_refused() -> None:
    async def takes_nothing() -> list[Request]:
        return []

    def takes_reader(reader: Reader) -> list[Request]:
        return []

    async def yields(reader: Reader) -> Any:
        yield A

    for wrong in (takes_nothing, takes_reader, yields, 7):
        with pytest.raises(TypeError, match="keys"):
            Every(seconds=5, keys=wrong)  # type: ignore[arg-type]


def test_a_cluster_scoped_kind_takes_no_namespace() -> None:
    controller, runs = counted(Zone)

    @controller.source
    async def messages() -> AsyncIterator[Request]:
        yield Request("ns", "north")
        yield Request("", "north")
        await asyncio.sleep(1000)

    story(controller)
    assert runs == ["north"]


# ---- nasty ones


def no_keys() -> list[Request]:
    return []


@pytest.mark.parametrize("keys", [None, no_keys])
def test_a_schedule_that_is_always_due_and_has_nothing_to_give_lets_others_run(keys: Any) -> None:
    class AlwaysDue(Schedule):
        def begin(self, world: World) -> AlwaysDue:
            return self

        def left(self) -> float:
            return 0.0

        def fired(self) -> None: ...

    controller, _ = counted()
    controller.source(AlwaysDue("always", keys))

    async def main(world: World) -> None:
        rig = Rig(world)
        async with rig.running(controller):
            for _ in range(100):
                await asyncio.sleep(0)

    simulate(main)


def test_a_schedule_that_fails_itself_is_said_and_begun_again() -> None:
    class Broken(Every):
        began = 0

        def begin(self, world: World) -> Ticks:
            self.began += 1
            if self.began < 3:
                raise OverflowError("what a date")
            return super().begin(world)

    broken = Broken(seconds=10)
    controller, runs = counted()
    controller.source(broken)
    rig = story(controller, seconds=30)
    assert [event.error for event in rig.heard(SourceFailed)] == ["OverflowError: what a date"] * 2
    assert len(runs) >= 3


def test_many_keys_at_once_let_others_run() -> None:
    controller, _ = counted()

    async def main(world: World) -> None:
        rig = Rig(world)
        async with rig.running(controller) as (runtime,):
            offering = asyncio.ensure_future(
                runtime.inflow.intake.offer_all((Request("ns", f"n{number}") for number in range(20_000)), "many")
            )
            turns = 0
            while not offering.done():
                turns += 1
                await asyncio.sleep(0)
            assert turns >= 20

    simulate(main)


def test_a_source_that_goes_on_whatever_it_is_told_does_not_keep_the_program(caplog: pytest.LogCaptureFixture) -> None:
    controller, _ = counted()
    told = []

    @controller.source
    async def deaf() -> AsyncIterator[Request]:
        while not told:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(1e6)
        yield A

    async def main(world: World) -> None:
        rig = Rig(world)
        async with rig.running(controller) as (runtime,):
            await asyncio.sleep(1)
            async with asyncio.timeout(5):
                await runtime.stop(wait=False)
            told.append("at last")

    simulate(main)
    assert [record.message for record in caplog.records] == ["gadget-source-deaf does not end, and is left behind"]


def test_a_schedule_looks_at_its_clock_every_ten_minutes_however_far_away_it_is() -> None:
    looked: list[float] = []

    class Far(Every):
        def begin(self, world: World) -> Ticks:
            ticks = super().begin(world)
            left = ticks.left

            def look() -> float:
                looked.append(world.clock.monotonic())
                return left()

            ticks.left = look  # type: ignore[method-assign]  # to hear of it
            return ticks

    controller, _ = counted()
    controller.source(Far(seconds=30 * 86400))
    story(controller, seconds=86400)
    assert len(looked) > 100
    assert max(after - before for before, after in itertools.pairwise(looked)) <= 601
