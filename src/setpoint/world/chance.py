"""Chance: jitter, generated names, identifiers. Seeded in simulation, so that the same seed gives the same run."""

from __future__ import annotations

import random
import secrets
import uuid
from typing import Protocol


class Chance(Protocol):
    """Where randomness comes from."""

    def uniform(self, low: float, high: float) -> float:
        """A number between the two."""
        ...

    def below(self, bound: int) -> int:
        """A whole number from 0 to `bound - 1`."""
        ...

    def token(self, alphabet: str, length: int) -> str:
        """That many letters of the alphabet."""
        ...

    def secret(self) -> str:
        """A string that nobody can guess (in simulation: that nobody needs to)."""
        ...

    def uuid(self) -> str:
        """A new version 4 UUID, in its usual spelling."""
        ...


class RealChance:
    """The machine's randomness."""

    def uniform(self, low: float, high: float) -> float:
        """A number between the two."""
        return random.uniform(low, high)

    def below(self, bound: int) -> int:
        """A whole number from 0 to `bound - 1`."""
        return random.randrange(bound)

    def token(self, alphabet: str, length: int) -> str:
        """That many letters of the alphabet."""
        return "".join(random.choices(alphabet, k=length))

    def secret(self) -> str:
        """32 random bytes, URL-safe."""
        return secrets.token_urlsafe(32)

    def uuid(self) -> str:
        """A new version 4 UUID."""
        return str(uuid.uuid4())


class SeededChance:
    """Randomness that a seed decides."""

    def __init__(self, seed: int | str) -> None:
        self.seed = seed
        self._random = random.Random(seed)

    def uniform(self, low: float, high: float) -> float:
        """A number between the two."""
        return self._random.uniform(low, high)

    def below(self, bound: int) -> int:
        """A whole number from 0 to `bound - 1`."""
        return self._random.randrange(bound)

    def token(self, alphabet: str, length: int) -> str:
        """That many letters of the alphabet."""
        return "".join(self._random.choices(alphabet, k=length))

    def secret(self) -> str:
        """Reproducible, hence no secret; there is no socket in simulation that it could guard."""
        return self.token("abcdefghijklmnopqrstuvwxyz0123456789", 43)

    def uuid(self) -> str:
        """A version 4 UUID from the seed."""
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))
