"""Sources: triggers from outside the watches. A message queue, an interval, a schedule; what they give are keys, and nothing else.

A source is a declaration, like all that a `Controller` holds: it is opened anew for each manager that runs the controller. What it gives
is enqueued, and the run that follows is like any other. What happened while a source was closed may be missed, so one that tells of changes
should begin with what there is.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from datetime import datetime
from typing import Any, Protocol, TypeAlias

import msgspec

from setpoint.cache import AnyInformer
from setpoint.client import Client
from setpoint.objects import Request
from setpoint.world import World

from .reads import CachedReader, Reader
from .said import Said
from .signatures import Mapper, arity_of, check_arity, function_behind, is_awaited, name_of
from .view import View


class Feed(CachedReader):
    """What a source has in hand: it reads as a `Reader` does, from the cache where it can, and knows the primary kind's keys."""

    def __init__(self, client: Client, view: View, said: Said, world: World, primary: AnyInformer) -> None:
        super().__init__(client, view, said)
        self._world = world
        self._primary = primary

    def now(self) -> datetime:
        """The time, in UTC. In tests it is simulated."""
        return self._world.clock.now()

    def primary_keys(self) -> list[Request]:
        """The keys of all objects of the controller's kind that its cache has."""
        return self._primary.keys()


class Source(msgspec.Struct, frozen=True):
    """A declared async iterator. `open` makes it; `wants_feed` says whether it takes the `Feed`. `name` is for people."""

    name: str
    open: Callable[..., AsyncIterator[Request]]
    wants_feed: bool
    finite: bool


class Ticks(Protocol):
    """The ticks of one schedule in one running controller."""

    def left(self) -> float:
        """Seconds until the next tick; 0 or less if it is due."""
        ...

    def fired(self) -> None:
        """The tick was met: the next one is due after now, whatever was missed."""
        ...


Keys: TypeAlias = Callable[[], Iterable[Request]] | Callable[[Reader], Awaitable[Iterable[Request]]]
"""Which keys a tick concerns; an `async def` gets a `Reader` (in fact a `Feed`) as well, as a mapper does."""


class Schedule(ABC):
    """Ticks of a clock, as a source. Each enqueues every object of the controller's kind, or what `keys` gives at that moment."""

    name: str
    keys: Mapper | None

    def __init__(self, name: str, keys: Keys | None) -> None:
        self.name = name
        self.keys = None if keys is None else _check_keys(keys, f"{type(self).__name__} {name}")

    @abstractmethod
    def begin(self, world: World) -> Ticks:
        """Its ticks from now on, for one running controller."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class Every(Schedule):
    """``controller.source(Every(seconds=300))``: a tick every so many seconds, the first one after that time, since a start reconciles
    everything anyway.

    With `jitter` each interval is longer or shorter by chance, by that fraction of it at most, so that many processes spread out. Time in
    which the machine sleeps counts, and intervals that it slept through make one tick. Raises `ValueError` for what is no interval.
    """

    def __init__(self, *, seconds: float, jitter: float = 0.0, keys: Keys | None = None, name: str | None = None) -> None:
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < float("inf"):
            raise ValueError(f"Every(seconds=...) takes a number of seconds above 0, not {seconds!r}")
        if isinstance(jitter, bool) or not isinstance(jitter, int | float) or not 0 <= jitter < 1:
            raise ValueError(f"Every(jitter=...) takes a fraction of the interval, at least 0 and below 1, not {jitter!r}")
        super().__init__(f"every {seconds:g} s" if name is None else name, keys)
        self.seconds: float = seconds
        self.jitter: float = jitter

    def begin(self, world: World) -> Ticks:
        """Its ticks from now on."""
        return _Intervals(self, world)


class _Intervals:
    def __init__(self, every: Every, world: World) -> None:
        self._every = every
        self._world = world
        self._due = 0.0
        self.fired()

    def left(self) -> float:
        return self._due - self._world.clock.monotonic()

    def fired(self) -> None:
        every, chance = self._every, self._world.chance
        factor = chance.uniform(1 - every.jitter, 1 + every.jitter) if every.jitter else 1.0
        self._due = self._world.clock.monotonic() + every.seconds * factor


def check_source(fn: Any, name: str | None, finite: bool, controller: str) -> Source:
    """Raises `TypeError` for what cannot be opened as an async iterator of requests."""
    called = name or name_of(fn).rpartition(".")[2]
    what = f"{controller}: the source {called}"
    if isinstance(fn, type) or not callable(fn):
        raise TypeError(f'{what} is not a function: pass an "async def" with a "yield", or Every(...) or Cron(...)')
    body = function_behind(fn)
    if inspect.iscoroutinefunction(body):
        raise TypeError(f'{what} has no "yield": a source is an async generator, "async def" with "yield Request(...)"')
    if inspect.isgeneratorfunction(body):
        raise TypeError(f'{what} is a plain generator, which would block the event loop: make it "async def"')
    wants_feed = arity_of(fn) != 0
    if wants_feed:
        check_arity(fn, 1, what, "it is called with nothing, or with a Feed to read from")
    return Source(called, fn, wants_feed, finite)


def _check_keys(fn: Any, what: str) -> Mapper:
    if isinstance(fn, type) or not callable(fn):
        raise TypeError(f"{what}: keys takes a function that gives requests, not {fn!r}")
    is_async = is_awaited(fn, f"{what}: keys")
    how = 'being "async def" it is called with (reader)' if is_async else 'it is called with nothing; make it "async def" to get a reader'
    check_arity(fn, 1 if is_async else 0, f"{what}: keys", how)
    return Mapper(fn, is_async, name_of(fn))
