"""Chance inside simulated processes: all of Python's sources draw from the process's own generator, which a seed decides."""

from __future__ import annotations

import os
import random
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from setpoint.levelcheck.processes.seal.within import generator


@cache
def functions() -> list[tuple[Any, Any]]:
    """The functions of `random`, methods of an instance that it hides, and those below `secrets` and `uuid`, with what stands for them."""
    hidden = [name for name in random.__all__ if isinstance(getattr(getattr(random, name), "__self__", None), random.Random)]
    stand_ins: list[tuple[Any, Any]] = [(getattr(random, name), _method(name, getattr(random, name))) for name in hidden]
    return [*stand_ins, (os.urandom, _urandom(os.urandom)), (uuid.uuid1, _uuid1(uuid.uuid1))]


def _method(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    def method(*args: Any, **kwargs: Any) -> Any:
        own = generator()
        return real(*args, **kwargs) if own is None else getattr(own, name)(*args, **kwargs)

    return method


def _urandom(real: Callable[[int], bytes]) -> Callable[[int], bytes]:
    def urandom(size: int, /) -> bytes:
        """That many bytes."""
        own = generator()
        return real(size) if own is None else own.randbytes(size)

    return urandom


def _uuid1(real: Callable[..., uuid.UUID]) -> Callable[..., uuid.UUID]:
    def uuid1(node: int | None = None, clock_seq: int | None = None) -> uuid.UUID:
        """From the time, and, in place of the machine's address, from chance."""
        own = generator()
        if own is None:
            return real(node, clock_seq)
        # It remembers the last time that it gave, for all processes, and never gives an earlier one.
        before, vars(uuid)["_last_timestamp"] = vars(uuid)["_last_timestamp"], None
        try:
            node = own.getrandbits(48) | 1 << 40 if node is None else node
            return real(node, own.getrandbits(14) if clock_seq is None else clock_seq)
        finally:
            vars(uuid)["_last_timestamp"] = before

    return uuid1


@contextmanager
def seeding() -> Iterator[None]:
    """Has generators that are made without a seed, as by `random.Random()`, take one from the process's own."""
    generators: Any = random.Random
    real = generators.seed

    def seed(self: Any, a: Any = None, version: int = 2) -> None:
        own = generator() if a is None and type(self) is not random.SystemRandom else None
        real(self, a if own is None else own.getrandbits(128), version)

    generators.seed = seed
    try:
        yield
    finally:
        generators.seed = real
