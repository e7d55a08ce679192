"""What is watched over and said while a manager runs: what waits, what lasts, what goes round in circles, what is not to be relied on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

from setpoint.cache.events import ReflectorState
from setpoint.controller import ControllerRuntime
from setpoint.manager.flight.loops import Loop
from setpoint.manager.health import staleness
from setpoint.manager.metrics import Metrics
from setpoint.world import Event

if TYPE_CHECKING:
    from setpoint.manager.manager import Manager

log = logging.getLogger("setpoint.manager")


def waits(runtimes: Iterable[ControllerRuntime]) -> list[str]:
    """What controllers that are not at work yet wait for, a sentence each."""
    return [
        f"{runtime.controller} waits for {informer.info.group_version_kind}: {informer.reason or f'it is {informer.state.name}'}"
        for runtime in runtimes
        for informer in runtime.informers
        if not informer.has_synced
    ]


def unready(manager: Manager) -> str | None:
    """Why what the manager has in its caches is not to be relied on; None if it is."""
    waiting = [runtime.name for runtime in manager.controllers if not runtime.has_synced]
    if waiting:
        return "; ".join([f"caches are not complete yet for {', '.join(waiting)}", *dict.fromkeys(manager.problems)])
    return staleness(manager.cache.informers, manager.world.clock.monotonic())


async def watch_over(manager: Manager) -> None:
    """Says what waits, again and again, and which runs do not end: once for each."""
    said: dict[tuple[str, str, float], None] = {}
    while True:
        await asyncio.sleep(manager.options.waiting)
        if not all(informer.has_synced for informer in manager.cache.informers):
            for problem in manager.problems:
                log.warning("%s", problem)
        now = manager.world.clock.monotonic()
        said = {place: None for place in said if manager.metrics.started[place[0]].get(place[1]) == place[2]}  # which still last
        for name, started in manager.metrics.started.items():
            for run, at in started.items():
                if now - at >= manager.options.patience and (name, run, at) not in said:
                    said[name, run, at] = None
                    log.warning(
                        "the run %s has not ended for %.0f s: does it wait for something? A Controller(deadline=...) ends such runs",
                        run,
                        now - at,
                    )


def say_state(event: Event) -> None:
    """A listener to `ReflectorState`: says how the caches fare, to who debugs."""
    assert isinstance(event, ReflectorState)
    log.debug("%s is %s %s", event.kind, event.state, event.reason)


def say_unserved(runtimes: Iterable[ControllerRuntime]) -> None:
    """Of controllers whose hooks nobody can reach."""
    if hooked := [runtime.name for runtime in runtimes if runtime.controller.hooks]:
        log.warning("the hooks of %s are served nowhere: give Options(hooks=(host, port)), or --hooks-bind-address", ", ".join(hooked))


def say_round(metrics: Metrics, loop: Loop) -> None:
    """Of a key that goes round in circles; the metrics say it, too."""
    log.warning("%s", loop.text, extra={"controller": loop.controller, "request": str(loop.request)})
    metrics.went_round(loop.controller)


def say_blocked(seconds: float, stack: str) -> None:
    """Of an event loop that somebody blocks."""
    log.warning(
        "the event loop has been blocked for %g s, and with it every watch and timer: an async reconciler must not compute or block for "
        "long; write it as a plain def, which runs in a thread, or await something that does not block. It is here:\n%s",
        seconds,
        stack.rstrip(),
    )


def say_failed(beside: asyncio.Task[None]) -> None:
    """Of a task that the manager can do without."""
    if not beside.cancelled() and (error := beside.exception()) is not None:
        log.error("%s has failed: %s", beside.get_name(), error, exc_info=error)
