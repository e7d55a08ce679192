"""`Cron`: ticks by the wall clock, with its leaps, in a time zone; and what a machine that slept makes of them."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setpoint.controller import Context, Controller, Cron, QueueAdded
from setpoint.controller.feeding import SLICE
from setpoint.objects import Request
from setpoint.world import SimulatedClock, World, simulate

from .fakes import Gadget, Rig, gadget

BERLIN = ZoneInfo("Europe/Berlin")


def ticks(cron: Cron, start: datetime, count: int) -> list[str]:
    """So many ticks after the start, as the wall clock there shows them."""
    found, at = [], start
    for _ in range(count):
        at = cron.after(at)
        found.append(at.astimezone(cron.timezone).strftime("%m-%d %H:%M %Z"))
    return found


@pytest.mark.parametrize(
    ("expression", "start", "expected"),
    [
        # months of different length, and the day that one year in four has
        ("0 0 31 * *", (2026, 1, 31, 1), ["03-31 00:00 CEST", "05-31 00:00 CEST", "07-31 00:00 CEST"]),
        ("0 0 L * *", (2026, 1, 31, 1), ["02-28 00:00 CET", "03-31 00:00 CEST", "04-30 00:00 CEST"]),
        ("0 0 29 2 *", (2026, 1, 1), ["02-29 00:00 CET", "02-29 00:00 CET"]),
        ("0 9 * * MON#1", (2026, 1, 1), ["01-05 09:00 CET", "02-02 09:00 CET"]),
        # summer begins on 29 March 2026: the clock leaps from 2:00 to 3:00
        ("30 2 * * *", (2026, 3, 28, 1), ["03-28 02:30 CET", "03-29 03:00 CEST", "03-30 02:30 CEST"]),
        ("30 * * * *", (2026, 3, 29, 0), ["03-29 00:30 CET", "03-29 01:30 CET", "03-29 03:30 CEST"]),
        # and ends on 25 October: from 3:00 back to 2:00
        ("30 2 * * *", (2026, 10, 24, 1), ["10-24 02:30 CEST", "10-25 02:30 CEST", "10-26 02:30 CET"]),
        ("30 * * * *", (2026, 10, 25, 1), ["10-25 01:30 CEST", "10-25 02:30 CEST", "10-25 02:30 CET", "10-25 03:30 CET"]),
        ("*/30 * * * *", (2026, 10, 25, 2), ["10-25 02:30 CEST", "10-25 02:00 CET", "10-25 02:30 CET", "10-25 03:00 CET"]),
    ],
)
def test_ticks_follow_the_wall_clock_through_month_ends_and_changes_of_its_time(
    expression: str, start: tuple[int, ...], expected: list[str]
) -> None:
    cron = Cron(expression, timezone="Europe/Berlin")
    assert ticks(cron, datetime(*start, tzinfo=BERLIN), len(expected)) == expected  # type: ignore[misc]  # what it takes


@settings(max_examples=300, deadline=None)
@given(
    expression=st.sampled_from(["30 2 * * *", "0 2,3 * * *", "*/15 * * * *", "0 */2 * * *", "59 23 * * 0", "0 0 L * *", "15 * * 10 *"]),
    zone=st.sampled_from(["Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Africa/Casablanca", "Pacific/Apia", "UTC"]),
    moment=st.datetimes(datetime(2010, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)),
)
def test_the_next_tick_is_always_later_and_every_tick_between_two_moments_is_found_from_any_of_them(
    expression: str, zone: str, moment: datetime
) -> None:
    cron = Cron(expression, timezone=zone)
    tick = cron.after(moment)
    assert tick > moment
    assert tick.tzinfo is UTC
    # asked again right before it, it is still the same tick, or one between
    assert moment < cron.after(tick - timedelta(seconds=1)) <= tick


class Clock(SimulatedClock):
    """A wall clock that can be put ahead and back."""


def story(controller: Controller[Any], seconds: float, *, leap: tuple[float, timedelta] | None = None, seed: int = 0) -> list[datetime]:
    """When the gadget was enqueued, by true time, but for the listing; the clock leaps after so many seconds."""

    async def main(world: World) -> list[datetime]:
        rig = Rig(world)
        rig.server.put(gadget("a"))
        times: list[datetime] = []
        start = world.clock.now()
        loop = asyncio.get_running_loop()

        def hear(event: Any) -> None:
            if isinstance(event, QueueAdded):
                times.append(start + timedelta(seconds=round(loop.time())))

        world.observer.subscribe(hear)
        async with rig.running(controller):
            if leap is not None:
                await asyncio.sleep(leap[0])
                assert isinstance(world.clock, SimulatedClock)
                world.clock.offset += leap[1]
            await asyncio.sleep(seconds - (leap[0] if leap else 0))
        return times[1:]

    return simulate(main, seed=seed)


def idle(*sources: Cron) -> Controller[Any]:
    controller: Controller[Any] = Controller(Gadget, resync=None)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        return None

    for source in sources:
        controller.source(source)
    return controller


def test_a_month_of_ticks_falls_on_their_minutes() -> None:
    """By themselves: the server of these tests would be busier than they are."""

    async def main(world: World) -> list[datetime]:
        times: list[datetime] = []
        ticks = Cron("0 3 * * *").begin(world)
        while len(times) < 31:
            await asyncio.sleep(min(ticks.left(), max(ticks.left() / 60, SLICE)))
            if ticks.left() <= 0:
                ticks.fired()
                times.append(world.clock.now())
        return times

    assert simulate(main) == [datetime(2026, 1, day, 3, tzinfo=UTC) for day in range(1, 32)]


def test_ticks_that_the_machine_slept_through_make_one_within_a_minute() -> None:
    # The machine sleeps for three hours: its loop's timers do not notice, the wall clock does.
    times = story(idle(Cron("*/30 * * * *")), 4 * 3600, leap=(1000, timedelta(hours=3)))
    assert times[0] <= datetime(2026, 1, 1, 0, 17, 40, tzinfo=UTC)  # 1000 s, and up to a minute
    assert times[1:3] == [datetime(2026, 1, 1, 0, 30, tzinfo=UTC), datetime(2026, 1, 1, 1, 0, tzinfo=UTC)]


def test_a_clock_that_is_put_back_does_not_silence_a_schedule() -> None:
    times = story(idle(Cron("*/30 * * * *")), 2 * 3600, leap=(2000, timedelta(hours=-1)))
    assert times == [datetime(2026, 1, 1, 0, 30, tzinfo=UTC) + timedelta(minutes=30 * number) for number in range(4)]


def test_ticks_missed_while_the_process_was_down_are_met_by_the_start() -> None:
    runs: list[Request] = []
    controller: Controller[Any] = Controller(Gadget, resync=None)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        runs.append(request)

    controller.source(Cron("0 3 1 1 *"))
    assert story(controller, 3600) == []
    assert runs == [Request("ns", "a")]


def test_seconds_come_first_where_there_are_six_fields() -> None:
    assert Cron("*/20 * * * * *").after(datetime(2026, 1, 1, tzinfo=UTC)) == datetime(2026, 1, 1, 0, 0, 20, tzinfo=UTC)


def test_a_fixed_offset_is_a_time_zone() -> None:
    cron = Cron("0 6 * * *", timezone=timezone(timedelta(hours=5, minutes=45)))
    assert cron.after(datetime(2026, 1, 1, tzinfo=UTC)) == datetime(2026, 1, 1, 0, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    ("expression", "zone", "says"),
    [
        ("* * *", "UTC", "is no cron expression: Wrong number of fields"),
        ("61 * * * *", "UTC", "Bad minute"),
        ("", "UTC", "is no cron expression"),
        ("0 0 30 2 *", "UTC", "Bad day-of-month|never comes true"),
        ("* * * * *", "Europe/Berlinn", "there is no time zone 'Europe/Berlinn'"),
        ("* * * * *", "../../etc/passwd", "is no time zone"),
        ("* * * * *", "", "is no time zone"),
    ],
)
def test_what_is_no_schedule_is_refused_where_it_is_declared(expression: str, zone: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Cron(expression, timezone=zone)


def test_the_library_for_cron_is_loaded_by_the_first_schedule_alone() -> None:
    import subprocess
    import sys

    program = """
import sys, setpoint.controller
assert "cronsim" not in sys.modules
setpoint.controller.Cron("* * * * *")
assert "cronsim" in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("zone", [None, 2, b"UTC"])
def test_what_is_no_time_zone_is_not_taken_for_the_machines_own(zone: Any) -> None:
    with pytest.raises(TypeError, match="Europe/Berlin"):
        Cron("0 3 * * *", timezone=zone)
