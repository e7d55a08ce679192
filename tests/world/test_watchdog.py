"""A blocked event loop is noticed, and the place is named."""

import asyncio
import threading

from setpoint.world.watchdog import Watchdog


def stuck(until: threading.Event) -> None:
    assert until.wait(30)


def test_a_blocked_loop_is_reported_with_its_place():
    reports = []
    noticed = threading.Event()

    def report(seconds, stack):
        reports.append((seconds, stack))
        noticed.set()

    async def main():
        with Watchdog(asyncio.get_running_loop(), 0.01, report):
            await asyncio.sleep(0)
            stuck(noticed)

    asyncio.run(main())
    assert reports[0][0] == 0.01
    assert "in stuck" in reports[0][1]


def test_an_idle_loop_is_not_reported():
    reports = []

    async def main():
        with Watchdog(asyncio.get_running_loop(), 10, lambda *report: reports.append(report)):
            for _ in range(100):
                await asyncio.sleep(0)

    asyncio.run(main())
    assert reports == []
