"""The end with grace: runs in progress may end within a time, and what has not ended by then is cancelled."""

from __future__ import annotations

import asyncio
import logging
from asyncio import FIRST_COMPLETED
from collections.abc import Sequence
from typing import Any

from setpoint.controller import ControllerRuntime

log = logging.getLogger("setpoint.manager")


async def end_runs(runtimes: Sequence[ControllerRuntime], *, grace: float, leading: asyncio.Task[None] | None) -> None:
    """Lets runs end within `grace` seconds. There is no grace without the leadership: what they would write is held back anyway.

    `leading` lasts as long as the leadership does; it is None where there is no election.
    """
    ending = [asyncio.create_task(runtime.stop(), name=f"stop {runtime.name}") for runtime in runtimes]
    ended: asyncio.Future[Any] = asyncio.gather(*ending, return_exceptions=True)
    until = [ended] if leading is None else [ended, leading]
    await asyncio.wait(until, timeout=grace, return_when=FIRST_COMPLETED)
    if not ended.done():
        names = [runtime.name for runtime in runtimes if runtime.active]
        why = f"after {grace:g} s" if leading is None or not leading.done() else "when the leadership was lost,"
        if names:
            log.warning("%s these still ran, and are cancelled: %s", why, ", ".join(names))
        for task in ending:
            task.cancel()
    await ended
