"""What a run comes to: in the queue, in the log, and for observers.

Failure is a trigger: an exception means another run after the key's backoff, success resets it. A conflict, and an object that is gone by
the time it is written, are lost races: they are tried again just so, without noise.
"""

from __future__ import annotations

from setpoint.client.errors import Conflict, NotFound, NotLeading, NotServed
from setpoint.objects import Request

from .cause import Cause
from .events import Outcome, RunEnded
from .panics import is_panic
from .queue import Queue
from .result import Result, TerminalError
from .runner import DeadlineExceeded, WrongResult
from .said import in_words, log

QUIET_CONFLICTS = 8
"""So many lost races in a row are the ordinary course of things; one more is an error: somebody writes against us."""


class Outcomes:
    """Those of one controller's runs. Each gives the word that metrics have for it."""

    def __init__(self, controller: str, queue: Queue) -> None:
        self._controller = controller
        self._queue = queue
        self._lost_races: dict[Request, int] = {}

    def succeeded(self, key: Request, result: Result | None) -> Outcome:
        """A run that raised nothing: what it asked for. Its backoff begins anew, unless it asked to run again at once."""
        self._lost_races.pop(key, None)
        seconds = None if result is None else result.seconds
        if result is None or seconds is None:
            self._queue.forget(key)
            return "success"
        if seconds <= 0:
            self._queue.add_rate_limited(key, Cause("again", about="asked to run again now"), priority=result.priority)
            return "requeue"
        self._queue.forget(key)
        self._queue.add_after(key, seconds, Cause("timer", about="requeue_after"), priority=result.priority)
        return "requeue_after"

    def failed(self, key: Request, error: BaseException) -> Outcome:
        """A run that raised: another one after the key's backoff, and a line in the log, as loud as the error is a surprise."""
        about = {"controller": self._controller, "request": str(key)}
        lost_race = is_lost_race(error)
        in_a_row = self._lost_races.pop(key, 0) + 1
        if lost_race:
            self._lost_races[key] = in_a_row
        if isinstance(error, TerminalError):
            self._queue.forget(key)
            log.error("terminal error, not tried again until something changes: %s", in_words(error), extra=about)
            return "error"
        seconds = self._queue.add_rate_limited(key, Cause("backoff", about=f"failed: {type(error).__name__}"))
        again = f"tried again in {seconds:.3g} s"
        if isinstance(error, NotLeading):
            log.info("%s; %s", error, again, extra=about)
            return "requeue"
        if lost_race and in_a_row <= QUIET_CONFLICTS:
            log.info("lost a race, %s: %s", again, error, extra=about)
            return "requeue"
        known = lost_race or isinstance(error, DeadlineExceeded | WrongResult)  # the sentence says it all
        log.error("reconcile failed, %s: %s", again, in_words(error), exc_info=None if known else error, extra=about)
        return "error"

    def forget(self, key: Request) -> None:
        """There are no runs of the key any more."""
        self._lost_races.pop(key, None)
        self._queue.forget(key)

    def told(self, key: Request, run: str, outcome: Outcome, seconds: float, error: BaseException | None) -> RunEnded:
        """The end of a run, as observers hear of it."""
        if error is None:
            return RunEnded(controller=self._controller, request=key, run=run, result=outcome, seconds=seconds)
        return RunEnded(
            controller=self._controller,
            request=key,
            run=run,
            result=outcome,
            seconds=seconds,
            error=in_words(error),
            terminal=isinstance(error, TerminalError),
            timed_out=isinstance(error, DeadlineExceeded),
            lost_race=is_lost_race(error),
            panicked=is_panic(error),
        )


def is_lost_race(error: BaseException) -> bool:
    """Whether somebody else was faster: the object has changed since it was read, or is gone by the time it is written.

    Of several at once, as of a `TaskGroup`, that must be so of each.
    """
    if isinstance(error, BaseExceptionGroup):
        return all(is_lost_race(each) for each in error.exceptions)
    return isinstance(error, Conflict) or (isinstance(error, NotFound) and not isinstance(error, NotServed))
