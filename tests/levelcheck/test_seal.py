"""Inside a simulated process time is the simulation's, chance comes from a seed, the machine is out of reach; outside all is as it was."""

from __future__ import annotations

import asyncio
import contextvars
import datetime as datetimes
import os
import random
import secrets
import socket
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from typing import Any

import cachetools
import pytest
import time_machine

from setpoint.levelcheck.processes.fresh import FreshModules
from setpoint.levelcheck.processes.seal import Refused, Seal, sealed
from setpoint.levelcheck.processes.target import find
from setpoint.world import PROCESS, HandOverThreads, SeededChance, SimulatedClock, SimulatedLoop, new_loop

from .project import Project, project
from .test_fresh import CONTROLLER, load, module

__all__ = ["project"]

START = datetime(2026, 1, 1, tzinfo=UTC)


class World:
    """A loop with two processes, of which b's clock goes an hour ahead."""

    def __init__(self, seed: str) -> None:
        self.loop: SimulatedLoop = new_loop()
        offsets = {"a": timedelta(), "b": timedelta(hours=1)}
        self.clocks = {name: SimulatedClock(self.loop.time, offset=offset) for name, offset in offsets.items()}
        self.chances = {name: SeededChance(f"{seed}/{name}") for name in offsets}

    def run(self, main: Callable[[], Any], process: str = "a", thread: bool = False) -> Any:
        """Runs it inside a process: a coroutine function, or a function, on the loop or in a thread that hands over."""

        async def body() -> Any:
            if asyncio.iscoroutinefunction(main):
                return await main()
            return await HandOverThreads().run(main) if thread else main()

        context = contextvars.Context()
        context.run(PROCESS.set, process)
        return self.loop.run_until_complete(self.loop.create_task(body(), context=context))


@contextmanager
def world(seed: str = "") -> Iterator[tuple[World, Seal]]:
    inside = World(seed)
    with sealed(clock_of=inside.clocks.get, chance_of=inside.chances.get) as seal:
        try:
            yield inside, seal
        finally:
            inside.loop.close()


WALL = {
    "time.time": (lambda: datetime.fromtimestamp(time.time(), UTC)),
    "time.time_ns": (lambda: datetime.fromtimestamp(time.time_ns() / 1e9, UTC)),
    "time.gmtime": (lambda: datetime(*time.gmtime()[:6], tzinfo=UTC)),
    "time.localtime": (lambda: datetime.fromtimestamp(time.mktime(time.localtime()), UTC)),
    "time.strftime": (
        lambda: datetime.fromtimestamp(time.mktime(time.strptime(time.strftime("%Y-%m-%dT%H:%M:%S"), "%Y-%m-%dT%H:%M:%S")), UTC)
    ),
    "time.clock_gettime": (lambda: datetime.fromtimestamp(time.clock_gettime(time.CLOCK_REALTIME), UTC)),
    "datetime.now": (lambda: datetime.now().astimezone(UTC)),
    "datetime.now(UTC)": (lambda: datetime.now(UTC)),
    "datetime.today": (lambda: datetime.today().astimezone(UTC)),
    "date.today": (lambda: datetime.combine(date.today(), datetimes.time(), UTC)),
}


@pytest.mark.parametrize("name", WALL)
@pytest.mark.parametrize("thread", [False, True])
def test_the_wall_time_is_the_processs_own(name: str, thread: bool) -> None:
    real = WALL[name]()
    with world() as (inside, _):
        assert inside.run(WALL[name], "a", thread) == START
        inside.loop.run_until_complete(asyncio.sleep(86400))
        assert inside.run(WALL[name], "a", thread) == START + timedelta(days=1)
        assert inside.run(WALL[name], "b", thread) == START + timedelta(days=1, hours=0 if name == "date.today" else 1)
        assert inside.run(WALL[name], "b/election", thread) == inside.run(WALL[name], "b")
        assert abs(WALL[name]() - real) < timedelta(days=2)


STEADY = ["monotonic", "perf_counter", "process_time", "thread_time"]


@pytest.mark.parametrize("name", STEADY)
def test_the_steady_clocks_are_the_simulations(name: str) -> None:
    real = getattr(time, name)
    with world() as (inside, _):
        inside.loop.run_until_complete(asyncio.sleep(90))
        assert inside.run(lambda: getattr(time, name)()) == 90
        assert inside.run(lambda: getattr(time, f"{name}_ns")()) == 90_000_000_000
        assert real() <= getattr(time, name)() <= real()
    assert getattr(time, name) is real


def test_sleep_in_a_plain_reconciler_waits_in_simulated_time() -> None:
    def reconcile() -> float:
        time.sleep(3600)
        return time.time()

    with world() as (inside, _):
        assert inside.run(reconcile, thread=True) == START.timestamp() + 3600
        assert inside.loop.time() == 3600


def test_sleep_in_async_code_is_refused() -> None:
    async def reconcile() -> None:
        time.sleep(1)

    with (
        world() as (inside, seal),
        pytest.raises(Refused, match=r"test_seal.py, line \d+, calls time.sleep, .*: await asyncio.sleep instead$"),
    ):
        inside.run(reconcile)
    assert len(seal.refused) == 1


CHANCE: dict[str, Callable[[], Any]] = {
    "random.random": lambda: random.random(),
    "random.choice": lambda: random.choice(range(10**9)),
    "random.getrandbits": lambda: random.getrandbits(64),
    "random.sample": lambda: tuple(random.sample(range(10**6), 3)),
    "random.Random": lambda: random.Random().random(),
    "random.SystemRandom": lambda: random.SystemRandom().random(),
    "secrets.token_hex": lambda: secrets.token_hex(),
    "secrets.choice": lambda: secrets.choice(range(10**9)),
    "os.urandom": lambda: os.urandom(16),
    "uuid.uuid4": lambda: uuid.uuid4(),
    "uuid.uuid1": lambda: uuid.uuid1(),
}


@pytest.mark.parametrize("name", CHANCE)
def test_chance_comes_from_the_seed(name: str) -> None:
    draw = CHANCE[name]

    def drawn(seed: str) -> list[Any]:
        with world(seed) as (inside, _):
            found = []
            for process in ("a", "a", "b"):
                draw()  # outside, which disturbs nothing
                found.append(inside.run(draw, process))
            return found

    first, again, other = drawn("1"), drawn("1"), drawn("2")
    assert first == again
    assert first != other
    assert len(set(first)) == 3


def test_chance_outside_is_what_it_was() -> None:
    random.seed(1)
    wanted = [random.random(), random.random()]
    random.seed(1)
    with world() as (inside, _):
        first = random.random()
        inside.run(lambda: (random.seed(7), random.random()))
        assert [first, random.random()] == wanted
        assert random.Random(3).random() == random.Random(3).random()
        assert os.urandom(16) != os.urandom(16)


def in_a_pool() -> None:
    ThreadPoolExecutor(1).submit(print)


def connected() -> None:
    with socket.create_connection(("127.0.0.1", 1)):
        pass


FORBIDDEN: dict[str, tuple[Callable[[], object], str]] = {
    "threading.Thread": (lambda: threading.Thread(target=print).start(), "starts a thread"),
    "threading.Timer": (lambda: threading.Timer(1, print).start(), "starts a thread"),
    "ThreadPoolExecutor": (in_a_pool, "starts a thread"),
    "socket.socket": (lambda: socket.socket(), "opens a socket"),
    "socket.create_connection": (connected, "opens a socket"),
    "socket.getaddrinfo": (lambda: socket.getaddrinfo("localhost", 80), "opens a socket"),
    "subprocess.run": (lambda: subprocess.run(["true"]), "starts another program"),
    "os.system": (lambda: os.system("true"), "starts another program"),
    "os.posix_spawn": (lambda: os.posix_spawn("/bin/true", ["true"], {}), "starts another program"),
    "os.fork": (lambda: os.fork(), "forks"),
}


@pytest.mark.parametrize("name", FORBIDDEN)
@pytest.mark.parametrize("thread", [False, True])
def test_the_machine_is_out_of_reach(name: str, thread: bool) -> None:
    act, sentence = FORBIDDEN[name]
    with world() as (inside, seal):
        with pytest.raises(Refused, match=rf"test_seal.py, line \d+, {sentence}"):
            inside.run(act, thread=thread)
        assert [each.partition(",")[0] for each in seal.refused] == [__file__]


def test_outside_the_machine_is_there() -> None:
    heard: list[str] = []
    with world() as (_, seal):
        thread = threading.Thread(target=lambda: heard.append("thread"))
        thread.start()
        thread.join()
        socket.socket().close()
        assert subprocess.run(["true"], check=False).returncode == 0
        time.sleep(0)
    assert heard == ["thread"]
    assert seal.refused == []


def test_functions_are_back_in_place_afterwards() -> None:
    names = [(home, name) for home in (time, random, os, uuid) for name in dir(home)]
    before = [getattr(home, name) for home, name in names]
    seed = random.Random.seed
    with world():
        pass
    assert all(getattr(home, name) is held for (home, name), held in zip(names, before, strict=True))
    assert random.Random.seed is seed
    assert not time_machine.escape_hatch.is_travelling()


def test_a_cache_of_a_library_that_took_its_clock_when_it_was_imported_sees_the_simulations() -> None:
    def expires() -> tuple[bool, bool]:
        cache: cachetools.TTLCache[str, int] = cachetools.TTLCache(9, ttl=60)
        cache["x"] = 1
        early = "x" in cache
        time.sleep(61)
        return early, "x" in cache

    with world() as (inside, _):
        assert inside.run(expires, thread=True) == (True, False)
    cache: cachetools.TTLCache[str, int] = cachetools.TTLCache(9, ttl=60)
    assert cache.timer is not None
    assert cachetools.TTLCache.__init__.__defaults__[0] is time.monotonic  # type: ignore[index]


def test_modules_that_are_loaded_afresh_and_take_functions_by_name(project: Project) -> None:
    project.write(
        "shop.py",
        f"""{CONTROLLER}
from datetime import datetime, UTC
from random import choice
from time import monotonic, time
from uuid import uuid4
from setpoint import Struct

class Stamp(Struct):
    at: datetime

STARTED = time()

def now():
    stamp = Stamp(at=datetime.now(UTC))
    return STARTED, time(), monotonic(), stamp.at.timestamp(), choice(range(10**9)), str(uuid4())
""",
    )
    target = find("shop:controller")

    def seen() -> Any:
        with world() as (inside, _), FreshModules(target) as fresh:
            inside.loop.run_until_complete(asyncio.sleep(5))
            shop = module(load(fresh))
            inside.loop.run_until_complete(asyncio.sleep(5))
            return inside.run(shop.now)

    at = START.timestamp()
    first = seen()
    assert first[:4] == (at + 5, at + 10, 10, at + 10)
    assert seen() == first


def test_a_process_without_a_clock_finds_the_machines() -> None:
    with world() as (inside, _):
        assert abs(inside.run(time.time, "server") - time.time()) < 60


def test_one_seal_at_a_time() -> None:
    with world(), pytest.raises(RuntimeError, match="one check runs at a time"), world():
        pass


def test_a_test_that_travels_goes_on_travelling_outside() -> None:
    with time_machine.travel(datetime(2000, 1, 1, tzinfo=UTC), tick=False), world() as (inside, _):
        assert datetime.now(UTC) == datetime(2000, 1, 1, tzinfo=UTC)
        assert inside.run(lambda: datetime.now(UTC)) == START


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda: asyncio.open_connection("shop", 80), "no connection to shop:80: there is no network in simulated time"),
        (lambda: asyncio.start_server(print, "", 80), "no server on port 80: there is no network in simulated time"),
        (lambda: asyncio.create_subprocess_exec("ls"), "no other programs run in simulated time, so 'ls' cannot"),
        (lambda: asyncio.create_subprocess_shell("ls"), "no other programs run in simulated time, so 'ls' cannot"),
        (lambda: asyncio.get_running_loop().getaddrinfo("shop", 80), "the address of shop cannot be asked for: there is no network"),
    ],
)
def test_what_asyncio_is_asked_for_is_refused_by_the_loop(ask: Callable[[], Any], told: str) -> None:
    async def reconcile() -> None:
        await ask()

    with world() as (inside, _), pytest.raises(RuntimeError, match=told):
        inside.run(reconcile)
