"""Rate limiters: how long a key waits that failed, or that asked to run again at once.

`Controller(rate_limiter=...)` takes a factory, which makes a new one each time the controller starts, from the world that it runs in: a
declaration holds no state, and time and chance are simulated in tests. The default is `Backoff`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol, TypeAlias

from setpoint.objects import Request
from setpoint.world import Chance, Clock, World

from .backoff import Backoff
from .said import in_words, log


class RateLimiter(Protocol):
    """Says how long a key waits. It is called on the event loop alone, and must not block."""

    def next(self, key: Request) -> float:
        """Counts one failure of the key, and gives the seconds, 0 or more, that it must wait."""
        ...

    def forget(self, key: Request) -> None:
        """The key succeeded. Nothing of it needs to be remembered."""
        ...

    def failures(self, key: Request) -> int:
        """How often the key has failed since it last succeeded."""
        ...


RateLimiterFactory: TypeAlias = Callable[[World], RateLimiter]
"""Makes a rate limiter of its own for every running controller."""


class Bucket:
    """One bucket for all keys: `burst` failures at once, and `rate` a second on the whole; whoever comes later waits for its turn.

    controller-runtime's old default had one beside the backoff, 10 a second in bursts of 100. Combine it by `MaxOf`: alone it does not
    slow a single key down.
    """

    def __init__(self, clock: Clock, *, rate: float = 10.0, burst: int = 100) -> None:
        if not (rate > 0 and burst >= 1):
            raise ValueError(f"a bucket needs a rate above 0 a second and a burst of at least 1, not {rate!r} and {burst!r}")
        self._clock = clock
        self._rate = rate
        self._burst = burst
        self._full_at = -math.inf
        """When it would be full again if nobody came."""

    def next(self, key: Request) -> float:
        """Takes one out, and gives the seconds until it will be there."""
        now = self._clock.monotonic()
        self._full_at = max(self._full_at, now) + 1.0 / self._rate
        return max(self._full_at - now - self._burst / self._rate, 0.0)

    def forget(self, key: Request) -> None:
        """Nothing is known of single keys."""

    def failures(self, key: Request) -> int:
        """Nothing is known of single keys: 0."""
        return 0


class MaxOf:
    """Several limiters at once: each counts, and the longest wait holds."""

    def __init__(self, *limiters: RateLimiter) -> None:
        if not limiters:
            raise ValueError("MaxOf needs at least one rate limiter")
        self._limiters = limiters

    def next(self, key: Request) -> float:
        """The longest wait that one of them asks for."""
        return max([limiter.next(key) for limiter in self._limiters])

    def forget(self, key: Request) -> None:
        """Tells all of them."""
        for limiter in self._limiters:
            limiter.forget(key)

    def failures(self, key: Request) -> int:
        """The highest number that one of them knows."""
        return max(limiter.failures(key) for limiter in self._limiters)


class Guarded:
    """A rate limiter of a user's, from which no failure comes through: where it raises, or gives no number of seconds, a `Backoff` decides.

    So a mistake in it ends no worker, and a key can neither spin nor be lost.
    """

    def __init__(self, limiter: RateLimiter, chance: Chance, controller: str) -> None:
        self._limiter = limiter
        self._instead = Backoff(chance)
        self._controller = controller

    def next(self, key: Request) -> float:
        """What the limiter says; else the backoff's seconds."""
        instead = self._instead.next(key)
        try:
            seconds = float(self._limiter.next(key))
        except Exception as error:
            self._say(f"next({key}) raised {in_words(error)}")
            return instead
        if 0.0 <= seconds < math.inf:
            return seconds
        self._say(f"next({key}) gave {seconds}")
        return instead

    def forget(self, key: Request) -> None:
        """Tells both."""
        self._instead.forget(key)
        try:
            self._limiter.forget(key)
        except Exception as error:
            self._say(f"forget({key}) raised {in_words(error)}")

    def failures(self, key: Request) -> int:
        """The count kept here: it is the same, and always there."""
        return self._instead.failures(key)

    def _say(self, what: str) -> None:
        log.error("the rate limiter is broken, an exponential backoff decides instead: %s", what, extra={"controller": self._controller})


def checked_factory(factory: object, controller: str) -> RateLimiterFactory | None:
    """Raises `TypeError` for what makes no rate limiters, such as a limiter itself, whose state a declaration would share."""
    ours = isinstance(factory, type) and issubclass(factory, Backoff | Bucket | MaxOf)  # these take a clock or a chance, and no world
    if factory is not None and (ours or not callable(factory) or (hasattr(factory, "forget") and not isinstance(factory, type))):
        raise TypeError(
            f"{controller}: rate_limiter is a function of the world that makes a rate limiter, such as "
            f"lambda world: Backoff(world.chance, cap=60), not {factory!r}"
        )
    return factory


def limiter_for(factory: RateLimiterFactory | None, world: World, controller: str) -> RateLimiter:
    """The limiter of a controller that starts to run."""
    return Backoff(world.chance) if factory is None else Guarded(factory(world), world.chance, controller)
