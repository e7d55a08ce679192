"""`Tools`: what all runs of one running controller share."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from setpoint.client import Client
from setpoint.objects import KindInfo, Request
from setpoint.world import World

from .cluster_events import EventRecorder
from .memo import ApplyMemo
from .said import Said
from .view import View


class Tools(msgspec.Struct, frozen=True, kw_only=True):
    """`client` writes under the controller's name; `spawn` runs something beside the run, in a task of its own."""

    controller: str
    world: World
    client: Client
    view: View
    memo: ApplyMemo
    said: Said
    events: EventRecorder


class Written(msgspec.Struct, frozen=True):
    """A write whose outcome is unknown. The key's name is empty where the server would have made it up."""

    info: KindInfo
    key: Request


class RunState:
    """What is known of a run while it lasts, for the runtime alone. Its name is for observers: the controller's, and the key."""

    __slots__ = ("_landed", "_under_way", "ended", "failed_applies", "name", "unknown")

    def __init__(self, name: str = "") -> None:
        self.name: str = name
        self.ended: str = ""
        self.failed_applies: list[str] = []
        self.unknown: list[Written] = []
        self._under_way = 0
        self._landed: asyncio.Future[None] | None = None

    def check_open(self) -> None:
        """Raises `RuntimeError` once the run has ended."""
        if self.ended:
            raise RuntimeError(f"{self.name}: {self.ended}; its Context is of no use any more")

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Around a write."""
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1
            if not self._under_way and self._landed is not None and not self._landed.done():
                self._landed.set_result(None)

    @property
    def has_landed(self) -> bool:
        """Whether no write is under way."""
        return not self._under_way

    async def landed(self) -> None:
        """Waits for writes that are under way still, though the run has ended: those beside one that failed in a `gather`, say.

        The next run would not see what they do, and do it again.
        """
        while self._under_way:
            self._landed = asyncio.get_running_loop().create_future()
            await self._landed


def ends_the_caller(error: BaseException) -> bool:
    """Whether an error that came out of a user's code means the task that called it, or the program, and not just that code.

    All else is a failure of that code, also what is no `Exception`: a cancellation that it did to itself or let through, or `sys.exit`,
    since one object that makes it give up must not end the work on all others.
    """
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is not None and task.cancelling() > 0
    return isinstance(error, KeyboardInterrupt)
