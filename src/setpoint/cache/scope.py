"""`Scope`: which namespaces a cache looks at."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


class Scope:
    """Some namespaces, or all of them for good. `is_decided` is false until it is known which; without that, there are none yet."""

    def __init__(self, names: Iterable[str] | None, *, decided: bool = True) -> None:
        """Raises `ValueError` for what is no name of a namespace."""
        self._held: dict[str, None] | None = None if names is None else checked(names)
        self._decided = asyncio.Event()
        if decided:
            self._decided.set()

    @property
    def names(self) -> tuple[str, ...] | None:
        """The namespaces, in order; None for all."""
        return None if self._held is None else tuple(self._held)

    @property
    def is_decided(self) -> bool:
        """Whether the names are known."""
        return self._decided.is_set()

    async def decided(self) -> None:
        """Waits until they are."""
        await self._decided.wait()

    def set(self, names: Iterable[str]) -> tuple[list[str], list[str]]:
        """These are the namespaces now; gives those that have gone and those that have come.

        Raises `ValueError` for what is no name of a namespace, and where all are looked at.
        """
        if self._held is None:
            raise ValueError("this cache looks at all namespaces, for good: begin with a set of them to change it later")
        before, now = self._held, checked(names)
        self._held = now
        self._decided.set()
        return [name for name in before if name not in now], [name for name in now if name not in before]

    def holds(self, namespace: str) -> bool:
        """Whether that namespace is looked at; "" is where objects without a namespace are, which always are."""
        return not namespace or self._held is None or namespace in self._held


def checked(names: Iterable[str]) -> dict[str, None]:
    """The names, each once. Raises `ValueError` for what is no name of a namespace."""
    if isinstance(names, str):
        raise ValueError(f"namespaces are a list of names, not {names!r}")
    found = dict.fromkeys(names)
    for name in found:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name of a namespace: lower-case letters, digits and '-', at most 63")
    return found
