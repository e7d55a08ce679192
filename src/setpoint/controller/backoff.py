"""How long a key that failed waits: exponentially, capped, jittered, each key for itself."""

from __future__ import annotations

from setpoint.objects import Request
from setpoint.world import Chance

BASE = 0.005
CAP = 1000.0
JITTER = 0.1


class Backoff:
    """Delays of 5 ms, 10 ms, 20 ms ... up to 1000 s, each up to a tenth shorter by chance, so that keys that failed together spread out."""

    def __init__(self, chance: Chance, *, base: float = BASE, cap: float = CAP) -> None:
        self._chance = chance
        self._base = base
        self._cap = cap
        self._failures: dict[Request, int] = {}

    def next(self, key: Request) -> float:
        """Counts a failure of the key and gives the seconds to wait."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        # 2.0 ** 1024 would overflow; long before, the cap is reached.
        delay = min(self._base * 2.0 ** min(failures, 64), self._cap)
        return delay * (1.0 - self._chance.uniform(0.0, JITTER))

    def failures(self, key: Request) -> int:
        """How often the key has failed since it last succeeded."""
        return self._failures.get(key, 0)

    def forget(self, key: Request) -> None:
        """The key succeeded."""
        if self._failures:
            self._failures.pop(key, None)
