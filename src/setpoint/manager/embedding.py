"""`Running`: a manager that runs while a block of somebody else's program does."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from setpoint.manager.manager import Manager


class Running:
    """An async context: enters at once, runs the manager beside the block, and ends it gracefully with the block.

    Should the manager end by an exception of its own, the block is cancelled where it is, and that exception is raised in its place: it is
    never lost, and never late. One that the block raises goes on after the manager has ended.
    """

    def __init__(self, manager: Manager) -> None:
        self._manager = manager
        self._life: asyncio.Task[None] | None = None
        self._block: asyncio.Task[object] | None = None
        self._interrupted = False

    async def __aenter__(self) -> Manager:
        self._block = asyncio.current_task()
        self._life = asyncio.create_task(self._manager.run(), name="manager")
        self._life.add_done_callback(self._ended)
        return self._manager

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        block, life = self._block, self._life
        assert block is not None, "it was entered"
        assert life is not None, "it was entered"
        self._block = None
        if not life.done():  # else it is another one's to stop: a manager runs once
            self._manager.stop()
        if self._interrupted:
            if not isinstance(error, asyncio.CancelledError):
                with suppress(asyncio.CancelledError):
                    await asyncio.sleep(0)  # the block came to its end just before it was interrupted: that arrives here
            if block.uncancel() == 0 and isinstance(error, asyncio.CancelledError):
                error = None  # it was ours
        else:
            await self._until_ended(life)
        if not life.cancelled() and (failure := life.exception()) is not None:
            raise failure from error
        if life.cancelled() and self._interrupted:
            raise RuntimeError("the manager was cancelled by somebody else, and so the block that relies on it cannot go on") from error

    def _ended(self, life: asyncio.Task[None]) -> None:
        if self._block is None:
            return
        if self._block.cancelling() if life.cancelled() else life.exception() is None:
            return  # both are cancelled, as at the end of a program; or it was told to stop
        self._interrupted = True
        self._block.cancel()

    async def _until_ended(self, life: asyncio.Task[None]) -> None:
        """Cancelled once more, it does not wait for anything to end well."""
        try:
            await asyncio.wait([life])
        except asyncio.CancelledError:
            life.cancel()
            await asyncio.wait([life])
            raise
