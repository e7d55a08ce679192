"""`Health`: what the probes ask. Liveness is about the process, readiness about what it knows of the world.

A process whose server is away is well, and starting it anew would help nobody; but whoever waits for it to be of use should know. So the
freshness of caches is a matter of readiness: a kind that was complete once, and of which the server says nothing any more, is named there
with its age, and is no problem any more as soon as the server is heard again.

https://kubernetes.io/docs/concepts/workloads/pods/probes/
"""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Protocol, TypeAlias

from setpoint.cache.reflector import IDLE_LIMIT
from setpoint.cache.states import State, Watching
from setpoint.objects import KindInfo

Check: TypeAlias = Callable[[], str | Awaitable[str | None] | None]
"""Gives None when all is well, or a sentence that says what is not. One that raises has failed, too."""
Checks: TypeAlias = Mapping[str, Check]

SILENT = IDLE_LIMIT + 15.0
"""Seconds without a word after which a watch is stale: by then the client has given it up, and another one should have been accepted."""
TROUBLED = 60.0
"""Seconds without a word after which a kind is stale whose list or watch is refused, or fails, again and again."""
CHECK_LIMIT = 10.0
"""Seconds that a check may take."""
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?")


class Watched(Protocol):
    """What the health of a cache is read from: an informer."""

    @property
    def info(self) -> KindInfo:
        """The kind."""
        ...

    @property
    def has_synced(self) -> bool:
        """Whether it was complete once."""
        ...

    @property
    def state(self) -> State:
        """What it does."""
        ...

    @property
    def reason(self) -> str:
        """What went wrong; empty where nothing did."""
        ...

    @property
    def last_contact(self) -> float | None:
        """When the server was last heard."""
        ...


class Health:
    """The checks of one process by name, in the order in which they were added: `/healthz` runs the live ones, `/readyz` the ready ones."""

    def __init__(self) -> None:
        self.live: dict[str, Check] = {"ping": lambda: None}
        self.ready: dict[str, Check] = {}

    def add(self, checks: dict[str, Check], name: str, check: Check) -> None:
        """Adds a check. Raises `ValueError` for a name that is taken, or that is none."""
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name of a check: lower-case letters, digits, '-' and '.'")
        if name in checks:
            raise ValueError(f"there is a check named {name!r} already")
        if not callable(check):
            raise TypeError(f"the check {name!r} is no function: {check!r}")
        checks[name] = check


async def outcome(check: Check) -> str | None:
    """What a check says; one that fails, or takes longer than `CHECK_LIMIT`, says so."""
    try:
        async with asyncio.timeout(CHECK_LIMIT) as limit:
            said = check()
            if inspect.isawaitable(said):
                said = await said
    except Exception as error:
        if limit.expired():
            return f"it has not answered for {CHECK_LIMIT:g} s"
        return f"{type(error).__name__}: {error}"
    if said is None or isinstance(said, str):
        return said
    return f"a check gives None when all is well, or a sentence that says what is not; this one gave {said!r}"


def staleness(informers: Iterable[Watched], now: float) -> str | None:
    """Which kinds are stale, each with its age and what is known of the cause; None if none is."""
    stale = [told for informer in informers if informer.has_synced and (told := _stale(informer, now))]
    return "; ".join(dict.fromkeys(stale)) or None


def _stale(informer: Watched, now: float) -> str:
    heard = informer.last_contact
    age = 0.0 if heard is None else now - heard
    if age <= (SILENT if isinstance(informer.state, Watching) else TROUBLED):
        return ""
    why = informer.reason or f"it is {informer.state.name}"
    return f"nothing was heard of {informer.info.group_version_resource.group_resource} for {age:.0f} s: {why}"
