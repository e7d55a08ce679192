"""What happens in this room, for the `Observer`: queue moves, timers, runs, and what went wrong in triggers.

Nothing of it is ever shown to a reconciler. `run` is the controller's name and the key: no key runs twice at once, so between `RunStarted`
and `RunEnded` that is enough to tell whose request an `Operation` is.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from setpoint.objects import KindInfo, Request
from setpoint.world import Event

from .cause import Cause

Outcome: TypeAlias = Literal["success", "error", "requeue", "requeue_after"]
"""The values of the label `result` of `controller_runtime_reconcile_total`."""


class Triggered(Event, frozen=True, kw_only=True):
    """A key was asked for: every time, also where it is waiting for its run already."""

    controller: str
    request: Request
    cause: Cause


class QueueAdded(Event, frozen=True, kw_only=True):
    """A key became ready to run (or, while it runs, to run again). Counted by `workqueue_adds_total`."""

    controller: str
    request: Request
    cause: Cause
    priority: int

    @property
    def reason(self) -> str:
        """For people."""
        return self.cause.reason


class PriorityRaised(Event, frozen=True, kw_only=True):
    """A key that waits for its run, with the priority `before`, was asked for at a higher one."""

    controller: str
    request: Request
    before: int
    priority: int


class QueueTaken(Event, frozen=True, kw_only=True):
    """A worker took a key that had waited for `waited` seconds: `workqueue_queue_duration_seconds`."""

    controller: str
    request: Request
    priority: int
    waited: float


class TimerSet(Event, frozen=True, kw_only=True):
    """A key was asked for in `after` seconds. Every one of them counts in `workqueue_retries_total`, also those of `requeue_after`."""

    controller: str
    request: Request
    cause: Cause
    after: float

    @property
    def reason(self) -> str:
        """For people."""
        return self.cause.reason


class RunStarted(Event, frozen=True, kw_only=True):
    """A reconciler was called; `at` is the world's monotonic time."""

    controller: str
    request: Request
    run: str
    at: float


class RunEnded(Event, frozen=True, kw_only=True):
    """It returned, raised, or was ended at its deadline, after `seconds`.

    `result` is the metric's label. `error` is the exception's type and text, "" without one. A conflict (`lost_race`) has an `error` but
    the result "requeue": losing a race is not a fault. `panicked` is said of an error that tells of a fault in the program; see `panics`.
    """

    controller: str
    request: Request
    run: str
    result: Outcome
    seconds: float
    error: str = ""
    terminal: bool = False
    timed_out: bool = False
    lost_race: bool = False
    panicked: bool = False


class Held(Event, frozen=True, kw_only=True):
    """A write's outcome is unknown: the key waits until the cache has seen what came of it."""

    controller: str
    request: Request


class Released(Event, frozen=True, kw_only=True):
    """The cache has seen it; the key may run again."""

    controller: str
    request: Request


class PredicateFailed(Event, frozen=True, kw_only=True):
    """A predicate raised; the object was enqueued."""

    controller: str
    kind: str
    key: Request
    error: str


class MapperFailed(Event, frozen=True, kw_only=True):
    """A mapper raised, or gave what is no request; it is tried again in `retry_after` seconds."""

    controller: str
    kind: str
    key: Request
    error: str
    retry_after: float


class SourceFailed(Event, frozen=True, kw_only=True):
    """A source raised, or ended without being finite; it is tried again in `retry_after` seconds."""

    controller: str
    source: str
    error: str
    retry_after: float


class HookCalled(Event, frozen=True, kw_only=True):
    """An HTTP hook was called, and answered with `code` after `keys` requests were enqueued."""

    controller: str
    hook: str
    code: int
    keys: int


class CacheRead(Event, frozen=True, kw_only=True):
    """A run has read from the cache: one object, or (where `key` is None) a list. `found` counts what it got. Live reads are requests."""

    run: str
    info: KindInfo
    key: Request | None
    found: int


class ThreadPoolFull(Event, frozen=True, kw_only=True):
    """A plain `def` reconciler has to wait for a thread: all `size` are taken, so many by each of the controllers in `holders`."""

    controller: str
    size: int
    holders: dict[str, int]


class ApplySkipped(Event, frozen=True, kw_only=True):
    """An apply would have changed nothing and was not sent."""

    controller: str
    request: Request
    kind: str
    key: Request


class EffectCalled(Event, frozen=True, kw_only=True):
    """`ctx.effect` called something outside Kubernetes, which took `seconds`; `error` is "" if it returned."""

    controller: str
    request: Request
    call: str
    seconds: float
    error: str = ""
