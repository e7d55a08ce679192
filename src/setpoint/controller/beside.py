"""`Beside`: what runs beside the runs, in tasks of its own: Events that are told, keys that are held."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Coroutine
from typing import Any

from .said import log


class Beside:
    """Tasks with the context variables of the time when this was made (`context`), not of the run that asks for them."""

    def __init__(self, controller: str) -> None:
        self._controller = controller
        self.context: contextvars.Context = contextvars.copy_context()
        self._tasks: dict[asyncio.Task[None], None] = {}

    @property
    def tasks(self) -> list[asyncio.Task[None]]:
        """What has not ended yet."""
        return list(self._tasks)

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Begins something. If it fails, the log says so."""
        name = f"{self._controller}-beside"
        task = asyncio.get_running_loop().create_task(work, name=name, context=self.context.copy())
        self._tasks[task] = None
        task.add_done_callback(self._ended)
        return task

    def cancel(self) -> None:
        """Asks all of it to end at once."""
        for task in self._tasks:
            task.cancel()

    def _ended(self, task: asyncio.Task[None]) -> None:
        del self._tasks[task]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("something beside a run failed: %s", error, exc_info=error, extra={"controller": self._controller})
