"""When to reconcile, and what a reconciler has in hand.

A `Controller` declares: a kind, what it owns and watches, and a reconciler. A `ControllerRuntime` runs it: `triggers` turn changes, and the
start-up listing, into keys; the `queue` holds each key once and never gives it out twice at a time; the `runner` calls the reconciler, in a
setting that never tells why; and by its `outcome`, what it returns or raises goes back into the queue as a timer or a backoff. A `Context`
(`SyncContext` for plain `def` reconcilers) reads from the cache and writes to the server.
"""

from . import mappers, predicates
from .backoff import Backoff
from .cause import Cause
from .context import Context, PruneRefused
from .controller import Controller, Watch
from .cron import Cron
from .events import (
    ApplySkipped,
    CacheRead,
    EffectCalled,
    Held,
    HookCalled,
    MapperFailed,
    PredicateFailed,
    PriorityRaised,
    QueueAdded,
    QueueTaken,
    Released,
    RunEnded,
    RunStarted,
    SourceFailed,
    ThreadPoolFull,
    TimerSet,
    Triggered,
)
from .hooks import Bearer, Signature
from .memo import ApplyMemo
from .once import reconcile_once
from .owns import Owns
from .predicate import Predicate
from .queue import Queue
from .rate_limiters import Bucket, MaxOf, RateLimiter, RateLimiterFactory
from .reads import Reader
from .result import Result, TerminalError
from .runner import DeadlineExceeded, WrongResult
from .runtime import ControllerRuntime
from .sources import Every, Feed
from .sync_context import SyncContext

__all__ = [
    "ApplyMemo",
    "ApplySkipped",
    "Backoff",
    "Bearer",
    "Bucket",
    "CacheRead",
    "Cause",
    "Context",
    "Controller",
    "ControllerRuntime",
    "Cron",
    "DeadlineExceeded",
    "EffectCalled",
    "Every",
    "Feed",
    "Held",
    "HookCalled",
    "MapperFailed",
    "MaxOf",
    "Owns",
    "Predicate",
    "PredicateFailed",
    "PriorityRaised",
    "PruneRefused",
    "Queue",
    "QueueAdded",
    "QueueTaken",
    "RateLimiter",
    "RateLimiterFactory",
    "Reader",
    "Released",
    "Result",
    "RunEnded",
    "RunStarted",
    "Signature",
    "SourceFailed",
    "SyncContext",
    "TerminalError",
    "ThreadPoolFull",
    "TimerSet",
    "Triggered",
    "Watch",
    "WrongResult",
    "mappers",
    "predicates",
    "reconcile_once",
]
