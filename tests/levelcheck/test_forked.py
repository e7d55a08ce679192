"""A simulated process that is the operating system's has nothing from the one before, and is one like any other for the run."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from setpoint import ObjectMeta, Request
from setpoint.client import Client, Connection, InProcessTransport
from setpoint.cluster import ControlPlane
from setpoint.controller.events import RunEnded, RunStarted
from setpoint.k8s.core.v1 import ConfigMap
from setpoint.levelcheck.assumptions import Assumptions
from setpoint.levelcheck.process import Surroundings
from setpoint.levelcheck.processes.forked import Forked, ForkServer
from setpoint.levelcheck.processes.fresh import Loaded
from setpoint.levelcheck.processes.target import find
from setpoint.world import Event, World, new_loop, simulated_world
from setpoint.world.loop import SimulatedLoop

from .project import Project, project

__all__ = ["project"]


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    with ForkServer() as running:
        yield running


class Fake:
    """What is outside: it lives with the run, and notes what it is told."""

    def __init__(self) -> None:
        self.told: list[Any] = []
        self.open = True

    async def tell(self, what: Any) -> int:
        self.told.append(what)
        return len(self.told)

    def note(self, what: Any) -> int:
        self.told.append(what)
        return len(self.told)

    async def fail(self) -> None:
        raise KeyError("not here")


class Run:
    """A control plane, a fake, and processes that are forked."""

    def __init__(self, world: World, plane: ControlPlane, server: ForkServer) -> None:
        self.world = world
        self.server = server
        self.fake = Fake()
        self.events: list[Event] = []
        self.ended: list[BaseException | None] = []
        self.transport = InProcessTransport(plane.server.handle)
        self.client = Client(Connection(self.transport, world))

    def start(self, name: str, target: str = "shop:app") -> Forked:
        async def nothing_to_install(kinds: object) -> None:
            return None

        def nothing_to_load() -> Loaded:
            raise AssertionError("a forked process loads its modules itself")

        around = Surroundings(
            load=nothing_to_load,
            outside={"fake": self.fake},
            transport=self.transport,
            install=nothing_to_install,
            hear=self.events.append,
            ended=self.ended.append,
            assumptions=Assumptions(),
        )
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SimulatedLoop)
        process = Forked(self.server, [find(target)], name, around, self.world, loop)
        process.start()
        return process

    async def config(self, name: str) -> None:
        await self.client.create(ConfigMap(metadata=ObjectMeta(name=name, namespace="default")))


def run(server: ForkServer, main: Callable[[Run], Awaitable[None]]) -> None:
    async def whole(world: World) -> None:
        async with ControlPlane(world) as plane:
            made = Run(world, plane, server)
            await made.config("a")
            await main(made)

    loop = new_loop()
    # What belongs to a process that was killed never ends: it is dropped with the loop.
    loop.set_exception_handler(lambda loop, context: None)
    loop.run_until_complete(whole(simulated_world(loop)))
    loop.close()


APP = """
import asyncio
from contextlib import asynccontextmanager
from setpoint import Controller, Result
from setpoint.k8s.core.v1 import ConfigMap

{declared}

@asynccontextmanager
async def app(manager, fake):
    async def reconcile(ctx, request):
        if request.namespace != "default" or request.name != "a":
            return None
        {body}
    {beside}
    manager.add(Controller(ConfigMap, name="shop", reconciler=reconcile))
    yield
"""


def app(body: str, declared: str = "", beside: str = "pass") -> str:
    lines = body.strip().splitlines()
    return APP.format(body="\n        ".join(lines), declared=declared, beside=beside)


KEPT = {
    "a module global": ("SEEN = []", "SEEN.append(1)\nawait fake.tell(len(SEEN))"),
    "a class attribute": ("class Shop:\n    seen = 0", "Shop.seen += 1\nawait fake.tell(Shop.seen)"),
    "an lru_cache": (
        "import functools\n@functools.lru_cache\ndef once(x):\n    return x",
        "once(once.cache_info().currsize)\nawait fake.tell(once.cache_info().currsize)",
    ),
    "a cache of another library": (
        "import cachetools\ncache = cachetools.TTLCache(9, 9999)",
        "cache[len(cache)] = 1\nawait fake.tell(len(cache))",
    ),
    "a library's own state": ("import json", "json.seen = getattr(json, 'seen', 0) + 1\nawait fake.tell(json.seen)"),
    "the environment": ("import os", "os.environ['SEEN'] = os.environ.get('SEEN', '') + 'x'\nawait fake.tell(len(os.environ['SEEN']))"),
}


@pytest.mark.parametrize("where", KEPT)
def test_what_a_process_keeps_is_not_there_in_the_next(project: Project, server: ForkServer, where: str) -> None:
    declared, body = KEPT[where]
    project.write("shop.py", app(body, declared))

    async def main(run: Run) -> None:
        for name in ("p1", "p2"):
            process = run.start(name)
            await asyncio.sleep(10)
            assert process.is_idle
            process.trigger("shop", Request("default", "a"))
            await asyncio.sleep(10)
            process.kill()
        assert run.fake.told == [1, 2, 1, 2]

    run(server, main)


def test_neither_a_background_task_nor_a_finally_block_outlives_a_crash(project: Project, server: ForkServer) -> None:
    body = "try:\n    await fake.tell('begun')\n    await asyncio.sleep(3600)\nfinally:\n    fake.note('finally')"
    declared = "async def ticking(fake):\n    while True:\n        await asyncio.sleep(2)\n        await fake.tell('tick')"
    project.write("shop.py", app(body, declared, "running = asyncio.create_task(ticking(fake))"))

    async def main(run: Run) -> None:
        process = run.start("p1")
        await asyncio.sleep(5)
        process.kill()
        await asyncio.sleep(10_000)
        assert run.fake.told == ["begun", "tick", "tick"]
        assert run.ended == []

    run(server, main)


def test_time_and_chance_are_the_runs(project: Project, server: ForkServer) -> None:
    declared = "import random, time\nfrom datetime import UTC, datetime"
    seen = "(time.time(), datetime.now(UTC).isoformat(), time.monotonic(), random.random())"
    body = f"await fake.tell({seen})\nreturn Result(requeue_after=3600)"
    project.write("shop.py", app(body, declared))
    drawn: list[list[float]] = []

    async def main(run: Run) -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        process = run.start("p1")
        await asyncio.sleep(2 * 3600 + 60)
        process.shift_clock(timedelta(days=1))
        await asyncio.sleep(3600)
        process.kill()
        first, second, third, fourth = run.fake.told
        stamps = [seen[0] - 1767225600 for seen in (first, second, third, fourth)]  # seconds since 2026 began
        assert stamps[0] == pytest.approx(began, abs=2)
        assert [later - stamps[0] for later in stamps[1:]] == pytest.approx([3600, 7200, 10800 + 86400], abs=5)
        assert [seen[2] - first[2] for seen in (second, third, fourth)] == pytest.approx([3600, 7200, 10800], abs=5)
        assert first[1].startswith("2026-01-01T00:00:")
        assert len({seen[3] for seen in run.fake.told}) == 4
        drawn.append([seen[3] for seen in run.fake.told])

    run(server, main)
    run(server, main)
    assert drawn[0] == drawn[1]


def test_the_run_hears_what_happens_in_it_and_asks_about_it(project: Project, server: ForkServer) -> None:
    project.write("shop.py", app("await fake.tell(1)"))

    async def main(run: Run) -> None:
        process = run.start("p1")
        assert not process.is_idle
        await asyncio.sleep(10)
        assert process.is_idle
        assert process.watched == ("configmaps",)
        assert process.primaries == {"shop": "configmaps"}
        ours = [event for event in run.events if isinstance(event, RunStarted | RunEnded) and event.request == Request("default", "a")]
        assert [type(event) for event in ours] == [RunStarted, RunEnded]
        process.kill()
        assert not process.is_idle
        assert process.watched == ()

    run(server, main)


def test_a_process_that_is_paused_goes_on_later(project: Project, server: ForkServer) -> None:
    project.write("shop.py", app("await fake.tell(1)\nreturn Result(requeue_after=60)"))

    async def main(run: Run) -> None:
        process = run.start("p1")
        await asyncio.sleep(90)
        assert run.fake.told == [1, 1]
        process.pause()
        await asyncio.sleep(600)
        assert run.fake.told == [1, 1]
        process.resume()
        await asyncio.sleep(1)
        assert run.fake.told == [1, 1, 1]
        process.kill()

    run(server, main)


def test_calls_of_fakes_values_of_theirs_and_what_they_raise(project: Project, server: ForkServer) -> None:
    body = """
found = [await fake.tell('first'), fake.note('second'), fake.open]
fake.open = False
found.append(fake.open)
try:
    await fake.fail()
except KeyError as error:
    found.append(error.args[0])
try:
    await fake.tell(lambda: None)
except TypeError as error:
    found.append('cannot be sent' in str(error))
await fake.tell(found)
"""
    project.write("shop.py", app(body))

    async def main(run: Run) -> None:
        process = run.start("p1")
        await asyncio.sleep(10)
        process.kill()
        assert run.fake.told == ["first", "second", [1, 2, True, False, "not here", True]]
        assert run.fake.open is False

    run(server, main)


PLAIN = """
import time
from contextlib import asynccontextmanager
from setpoint import Controller
from setpoint.k8s.core.v1 import ConfigMap

@asynccontextmanager
async def app(manager, fake):
    def reconcile(ctx, request):
        if request.namespace == "default" and request.name == "a":
            began = time.time()
            time.sleep(600)
            fake.note(time.time() - began)
    manager.add(Controller(ConfigMap, name="shop", reconciler=reconcile))
    yield
"""


def test_a_plain_reconciler_waits_and_calls_in_simulated_time(project: Project, server: ForkServer) -> None:
    project.write("shop.py", PLAIN)

    async def main(run: Run) -> None:
        process = run.start("p1")
        await asyncio.sleep(1000)
        process.kill()
        assert run.fake.told == [600]

    run(server, main)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("raise ValueError('no database')", "no database"),
        ("import os; os._exit(3)", "the process ended without a word; does a reconciler loop for ever, or end the program?"),
    ],
)
def test_how_it_ended_is_told(project: Project, server: ForkServer, body: str, told: str) -> None:
    project.write("shop.py", app("return None", beside=body))

    async def main(run: Run) -> None:
        run.start("p1")
        await asyncio.sleep(10)
        assert [str(error) for error in run.ended] == [told]

    run(server, main)


def test_the_program_that_forks_has_nothing_of_the_users(project: Project, server: ForkServer) -> None:
    project.write(
        "shop.py", app("import os, sys\nawait fake.tell((os.getpid(), os.getppid(), 'shop_other' in sys.modules))", "import shop_other")
    )
    project.write("shop_other.py", "import os\nIMPORTED_IN = os.getpid()")

    async def main(run: Run) -> None:
        for name in ("p1", "p2"):
            process = run.start(name)
            await asyncio.sleep(10)
            process.kill()
        (first, parent, _), (second, same, _) = run.fake.told
        assert len({first, second, parent, os.getpid()}) == 4
        assert parent == same

    run(server, main)


def test_it_forks_in_its_context_only(project: Project) -> None:
    project.write("shop.py", app("return None"))

    async def main(run: Run) -> None:
        with pytest.raises(RuntimeError, match="inside its context"):
            run.start("p1")

    run(ForkServer(), main)
