"""Time inside simulated processes: each shows its own clock, and waiting costs nothing.

The wall time is put in place by time-machine, which does so in `time.time` and `datetime.now` themselves, whoever has taken hold of them;
how late it is is asked here, by each process.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from setpoint.levelcheck.processes.seal.within import calling, clock, seal
from setpoint.world import HandOverThreads

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_SLEEP = "calls time.sleep, which blocks the event loop and all that runs on it: await asyncio.sleep instead"


@cache
def functions() -> list[tuple[Any, Any]]:
    """The functions of `time` that time-machine leaves as they are, each with what stands for it."""
    stand_ins: list[tuple[Any, Any]] = [(time.sleep, _sleep(time.sleep))]
    for name in ("monotonic", "perf_counter", "process_time", "thread_time"):
        seconds, nanoseconds = getattr(time, name), getattr(time, f"{name}_ns")
        stand_ins += [(seconds, _steady(seconds)), (nanoseconds, _steady_ns(nanoseconds))]
    return stand_ins


def _steady(real: Callable[[], float]) -> Callable[[], float]:
    def steady() -> float:
        """The clock that only goes forward."""
        own = clock()
        return real() if own is None else own.monotonic()

    return steady


def _steady_ns(real: Callable[[], int]) -> Callable[[], int]:
    def steady_ns() -> int:
        """The clock that only goes forward, in nanoseconds."""
        own = clock()
        return real() if own is None else round(own.monotonic() * 1e9)

    return steady_ns


def _sleep(real: Callable[[float], None]) -> Callable[[float], None]:
    def sleep(seconds: float, /) -> None:
        """Waits in simulated time, where other tasks can go on meanwhile."""
        open_seal = seal()
        if open_seal is None or clock() is None:
            real(seconds)
        elif asyncio._get_running_loop() is not None:
            raise open_seal.refuse(_SLEEP, calling())
        else:
            HandOverThreads().call(lambda: asyncio.sleep(seconds))

    return sleep


@contextmanager
def _without_pytest() -> Iterator[None]:
    """Where pytest is not loaded yet, time-machine does not load it for the sake of its plugin: it would be copied for every run."""
    if "pytest" in sys.modules:
        yield
        return
    sys.modules["pytest"] = None  # type: ignore[assignment]  # which is how Python is told that there is none
    try:
        yield
    finally:
        del sys.modules["pytest"]


@contextmanager
def traveling() -> Iterator[None]:
    """Has the wall time asked of each process's clock, by whatever name. Raises `ImportError` without time-machine."""
    try:
        with _without_pytest():
            import time_machine
    except ImportError as error:
        raise ImportError("a check needs time-machine, for the time inside simulated processes: pip install 'setpoint[check]'") from error
    # Whoever else travels, such as a test that checks a controller, goes on doing so outside of simulated processes.
    outer = time_machine.traveller_stack[-1].time_ns if time_machine.traveller_stack else time_machine.escape_hatch.time.time_ns

    def time_ns() -> int:
        own = clock()
        return outer() if own is None else (own.now() - _EPOCH) // _MICROSECOND * 1000

    travel = time_machine.travel(0)
    vars(travel.start())["time_ns"] = time_ns
    try:
        yield
    finally:
        travel.stop()
