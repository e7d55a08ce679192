"""The outside: time, chance, threads, sockets and other programs come in here and nowhere else.

A `World` holds one door for each. `real_world()` is the machine. `simulated_world(loop)` belongs to a `SimulatedLoop`: time that jumps,
chance from a seed, threads that hand over, no sockets, no programs. Everything else in Setpoint takes a `World` and an ordinary asyncio
loop, so the production code runs in simulated time with nothing else replaced. The world's `Observer` hears what happens in every room.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

from setpoint.world.chance import Chance, RealChance, SeededChance
from setpoint.world.clock import Clock, RealClock, SimulatedClock
from setpoint.world.loop import Deadlock, SimulatedLoop, new_loop
from setpoint.world.observer import Event, Observer
from setpoint.world.process import PROCESS
from setpoint.world.programs import NoPrograms, Printed, Programs, RealPrograms
from setpoint.world.sockets import NoSockets, PortInUse, RealSockets, Sockets
from setpoint.world.threads import HandOverThreads, RealThreads, Threads

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class World:
    """One door to each thing outside; `host` is the name of the machine."""

    clock: Clock
    chance: Chance
    threads: Threads
    sockets: Sockets
    programs: Programs = field(default_factory=NoPrograms)
    simulated: bool = False
    host: str = "simulated"
    observer: Observer = field(default_factory=Observer)


def real_world(*, threads: int = 1024) -> World:
    """The machine: its clock, its randomness, a pool of at most that many threads, its network."""
    return World(
        clock=RealClock(),
        chance=RealChance(),
        threads=RealThreads(threads),
        sockets=RealSockets(),
        programs=RealPrograms(),
        host=socket.gethostname(),
    )


def simulated_world(loop: SimulatedLoop, *, seed: int | str = 0) -> World:
    """A world in the simulated time of a loop, with chance from the seed."""
    return World(
        clock=SimulatedClock(loop.time),
        chance=SeededChance(seed),
        threads=HandOverThreads(),
        sockets=NoSockets(),
        simulated=True,
    )


def simulate(main: Callable[[World], Coroutine[Any, Any, T]], *, seed: int | str = 0) -> T:
    """Runs `main` in a simulated world of its own, on a loop of its own, and gives its result. What still runs then is cancelled."""
    loop = new_loop()
    try:
        return run_to_end(loop, main(simulated_world(loop, seed=seed)))
    finally:
        loop.close()


def run_to_end(loop: SimulatedLoop, main: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine on the loop, then cancels the tasks that it left, in the order in which they were made, and waits for them.

    Raises what it raises, else what a task of the loop has raised that nobody awaited.
    """
    try:
        result: T = loop.run_until_complete(main)
        loop.raise_unseen()
        return result
    finally:
        left = sorted(asyncio.all_tasks(loop), key=hash)
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))


__all__ = [
    "PROCESS",
    "Chance",
    "Clock",
    "Deadlock",
    "Event",
    "HandOverThreads",
    "NoPrograms",
    "NoSockets",
    "Observer",
    "PortInUse",
    "Printed",
    "Programs",
    "RealChance",
    "RealClock",
    "RealPrograms",
    "RealSockets",
    "RealThreads",
    "SeededChance",
    "SimulatedClock",
    "SimulatedLoop",
    "Sockets",
    "Threads",
    "World",
    "new_loop",
    "real_world",
    "run_to_end",
    "simulate",
    "simulated_world",
]
