"""Which simulated process asks, and what the open seal has for it.

There is at most one seal at a time in a Python process, and the functions that stand for those of Python ask for it at each call: a library
that was imported while an earlier seal was open still has them, and gets from them what holds now.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from weakref import WeakKeyDictionary

from setpoint.manager.importing import is_library
from setpoint.world import PROCESS, Chance, Clock


class Refused(RuntimeError):
    """Code inside a simulated process has asked for what there is none of."""


class Seal:
    """What simulated processes see, and what was refused to them."""

    def __init__(self, clock_of: Callable[[str], Clock | None], chance_of: Callable[[str], Chance | None]) -> None:
        self.clock_of = clock_of
        self.chance_of = chance_of
        self._generators: WeakKeyDictionary[Chance, random.Random] = WeakKeyDictionary()
        self._refused: dict[str, None] = {}

    @property
    def refused(self) -> list[str]:
        """What has been refused, a sentence each, also where the exception was caught."""
        return list(self._refused)

    def refuse(self, what: str, frame: FrameType | None) -> Refused:
        """The exception for what the code of a frame has done, or what the user's code has done by way of it."""
        sentence = f"{_users(frame)} {what}"
        self._refused[sentence] = None
        return Refused(sentence)

    def generator_of(self, chance: Chance) -> random.Random:
        """The generator that a process's chance seeds."""
        found = self._generators.get(chance)
        if found is None:
            found = self._generators[chance] = random.Random(chance.below(1 << 128))
        return found


class _Switch:
    seal: Seal | None = None


@contextmanager
def opened(seal: Seal) -> Iterator[None]:
    """Has this seal be the open one. Raises `RuntimeError` while another one is."""
    if _Switch.seal is not None:
        raise RuntimeError("simulated processes are sealed already: one check runs at a time")
    _Switch.seal = seal
    try:
        yield
    finally:
        _Switch.seal = None


def seal() -> Seal | None:
    """The open seal, for code inside a simulated process; None outside of them."""
    return _Switch.seal if PROCESS.get() else None


def clock() -> Clock | None:
    """The clock of the simulated process that asks; None outside of them."""
    process = PROCESS.get()
    seal = _Switch.seal
    return seal.clock_of(process.partition("/")[0]) if seal is not None and process else None


def generator() -> random.Random | None:
    """The generator of the simulated process that asks; None outside of them."""
    process = PROCESS.get()
    seal = _Switch.seal
    chance = seal.chance_of(process.partition("/")[0]) if seal is not None and process else None
    return None if seal is None or chance is None else seal.generator_of(chance)


def _users(frame: FrameType | None) -> str:
    """The user's line that it comes from, as the beginning of a sentence."""
    while frame is not None and (frame.f_code.co_filename.startswith("<") or is_library(frame.f_code.co_filename)):
        frame = frame.f_back
    process = PROCESS.get()
    return f"{frame.f_code.co_filename}, line {frame.f_lineno}," if frame is not None else f"code of the process {process}"


def calling() -> FrameType | None:
    """The frame that called the function which asks."""
    return sys._getframe(2)
