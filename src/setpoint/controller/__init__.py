"""When to reconcile, and what a reconciler has in hand.

A `Controller` declares: a kind, what it owns and watches, and a reconciler. A `ControllerRuntime` runs it: `triggers` turn changes, and the
start-up listing, into keys; the `queue` holds each key once and never gives it out twice at a time; the `runner` calls the reconciler, in a
setting that never tells why; and what it returns or raises goes back into the queue as a timer or a backoff. A `Context` (`SyncContext` for
plain `def` reconcilers) reads from the cache and writes to the server.
"""

from . import predicates
from .backoff import Backoff
from .cause import Cause
from .context import Context, PruneRefused
from .controller import Controller, Watch
from .events import (
    ApplySkipped,
    CacheRead,
    EffectCalled,
    Held,
    MapperFailed,
    PredicateFailed,
    QueueAdded,
    QueueTaken,
    Released,
    RunEnded,
    RunStarted,
    TimerSet,
    Triggered,
)
from .memo import ApplyMemo
from .predicate import Predicate
from .queue import Queue
from .reads import Reader
from .result import Result, TerminalError
from .runner import DeadlineExceeded, WrongResult
from .runtime import ControllerRuntime, reconcile_once
from .sync_context import SyncContext

__all__ = [
    "ApplyMemo",
    "ApplySkipped",
    "Backoff",
    "CacheRead",
    "Cause",
    "Context",
    "Controller",
    "ControllerRuntime",
    "DeadlineExceeded",
    "EffectCalled",
    "Held",
    "MapperFailed",
    "Predicate",
    "PredicateFailed",
    "PruneRefused",
    "Queue",
    "QueueAdded",
    "QueueTaken",
    "Reader",
    "Released",
    "Result",
    "RunEnded",
    "RunStarted",
    "SyncContext",
    "TerminalError",
    "TimerSet",
    "Triggered",
    "Watch",
    "WrongResult",
    "predicates",
    "reconcile_once",
]
