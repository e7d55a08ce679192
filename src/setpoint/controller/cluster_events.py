"""`EventRecorder`: Events about objects, as `kubectl describe` and `kubectl get events` show them.

An Event is for people and never worth a failed run: it is sent beside the run, is bounded in memory and in requests, and where it cannot be
sent that is logged, once for each sort of failure. Equal ones become a series: one object whose count and last time are brought up to date,
now and then while it goes on, and when it has ended. An object that has more to tell than anybody reads is cut short.

Numbers are those of client-go: https://pkg.go.dev/k8s.io/client-go/tools/events and .../tools/record
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from typing import Any

from setpoint.api import ApiError, GroupVersionResource, Operation
from setpoint.api.operation import JSON, MERGE_PATCH
from setpoint.client import Client
from setpoint.client.errors import (
    AlreadyExists,
    Forbidden,
    InternalError,
    NotFound,
    NotLeading,
    NotServed,
    OutcomeUnknown,
    ServiceUnavailable,
    Timeout,
    TooManyRequests,
    Unreachable,
)
from setpoint.objects import KindInfo, MicroTime, Object, Untyped, kind_of
from setpoint.world import World

from .event_series import LABEL_LIMIT, NOTE_LIMIT, EventType, Series, Told, cut, event_name, identity, reference, reporter
from .said import Said, in_words, log

EVENTS = GroupVersionResource("events.k8s.io", "v1", "events")
SERIES_ENDS = 360.0
"""Seconds without another one after which a series has ended."""
FIRST_PAUSE, LONGEST_PAUSE = 10.0, 1800.0
"""Seconds between two updates of a series that goes on; each is twice the one before."""
BURST, REFILL = 25, 300.0
"""So many series may begin about one object at once, and one more in each so many seconds."""
SERIES_KEPT, OBJECTS_KEPT, WAITING_KEPT = 1000, 4096, 1000
IN_FLIGHT = 4
TRIES, RETRY = 12, 10.0
"""How often one request is sent at most, and the seconds between, while the server is away."""
FLUSH = 5.0
"""Seconds that the last counts may take at the end."""

_AWAY = (InternalError, OutcomeUnknown, ServiceUnavailable, Timeout, TooManyRequests, Unreachable)


class EventRecorder:
    """The Events of one controller. To be used on the event loop; `spawn` runs a task beside the runs."""

    def __init__(
        self, controller: str, *, client: Client, world: World, said: Said, spawn: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]
    ) -> None:
        self._controller = controller
        self._client = client
        self._world = world
        self._said = said
        self._spawn = spawn
        self._series: OrderedDict[Told, Series] = OrderedDict()
        self._waiting: OrderedDict[Series, None] = OrderedDict()
        self._timers: dict[Series, asyncio.TimerHandle] = {}
        self._sieve = Sieve(world.clock.monotonic)
        self._beside: dict[asyncio.Task[None], None] = {}
        self._senders = 0
        self._ending = self._closed = False

    def record(self, obj: Object, reason: str, note: str, *, type: EventType, action: str, related: Object | None = None) -> None:
        """Takes an Event and returns at once. Raises `ValueError` for one that the API cannot take, whoever asks."""
        if type not in ("Normal", "Warning"):
            raise ValueError(f"an event's type is 'Normal' or 'Warning', not {type!r}")
        if not reason or not action:
            raise ValueError(f"an event needs a reason and an action, such as 'Scaled' and 'Reconcile', not {reason!r}, {action!r}")
        about = [obj] if related is None else [obj, related]
        if not any(isinstance(each, Untyped) for each in about):
            self._take([reference(each, kind_of(each.__class__)) for each in about], reason, note, type, action)
            return

        async def resolved() -> None:
            try:
                infos: list[KindInfo] = [await self._client.kind_info(each) for each in about]
            except (ApiError, ValueError) as error:
                self._lost(reason, note, error)
                return
            self._take([reference(each, info) for each, info in zip(about, infos, strict=True)], reason, note, type, action)

        self._keep(resolved())

    async def flush(self) -> None:
        """Sends what is not told yet, once, and forgets what has not been told within a few seconds: for the end, when the runs have ended.
        What is under way already takes no longer.
        """
        self._ending = True
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        for series in list(self._series.values()):
            if series.is_due and not series.under_way:
                self._enqueue(series)
        until = asyncio.get_running_loop().time() + FLUSH
        while self._beside and (left := until - asyncio.get_running_loop().time()) > 0:
            await asyncio.wait(list(self._beside), timeout=left)
        if untold := sum(series.is_due for series in self._series.values()):
            log.info("%d event series were not told to their end", untold, extra={"controller": self._controller})
        self.close()

    def close(self) -> None:
        """Forgets everything, sends nothing more."""
        self._ending = self._closed = True
        for timer in self._timers.values():
            timer.cancel()
        for task in self._beside:
            task.cancel()
        for kept in (self._timers, self._waiting, self._series):
            kept.clear()

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._spawn(work)
        self._beside[task] = None
        task.add_done_callback(self._beside.pop)

    def _take(self, about: list[dict[str, str]], reason: str, note: str, type: str, action: str) -> None:
        regarding, related = about[0], about[1] if len(about) > 1 else None
        key = Told(identity(regarding), "" if related is None else identity(related), reason, action, type)
        now = self._world.clock.now()
        series = self._series.get(key)
        if series is not None:
            series.count += 1
            series.last = now
            self._series.move_to_end(key)
            if series.count == 2 and series.sent == 1:
                self._enqueue(series)  # from here on it is seen to be a series
            return
        if self._closed or not self._sieve.passes(key.regarding):
            log.debug("an event about %s (%s: %s) is left out: it has more than enough", regarding["name"], reason, note)
            return
        body: dict[str, Any] = {
            "apiVersion": EVENTS.api_version,
            "kind": "Event",
            "metadata": {
                "name": event_name(regarding["name"], self._world.chance),
                "namespace": regarding.get("namespace") or "default",
            },
            "eventTime": str(MicroTime.of(now)),
            "regarding": regarding,
            "reason": cut(reason, LABEL_LIMIT),
            "action": cut(action, LABEL_LIMIT),
            "note": cut(note, NOTE_LIMIT),
            "type": type,
            "reportingController": reporter(self._controller),
            "reportingInstance": cut(self._world.host or self._controller, LABEL_LIMIT),
        }
        if related is not None:
            body["related"] = related
        series = self._series[key] = Series(key, body, now, FIRST_PAUSE)
        if len(self._series) > SERIES_KEPT:
            self._forget(next(iter(self._series.values())))
        self._enqueue(series)

    # sending

    def _enqueue(self, series: Series) -> None:
        if len(self._waiting) >= WAITING_KEPT:
            self._forget(next(iter(self._waiting)))
        self._waiting[series] = None
        if self._senders < IN_FLIGHT:
            self._senders += 1
            self._keep(self._send_all())

    async def _send_all(self) -> None:
        try:
            while self._waiting:
                await self._send(self._waiting.popitem(last=False)[0])
        finally:
            self._senders -= 1

    async def _send(self, series: Series) -> None:
        """One attempt; what follows from it is planned."""
        count = series.count
        series.under_way = True
        try:
            if series.sent:
                await self._call("patch", series, series.heartbeat())
            else:
                await self._call("create", series, series.creation())
        except AlreadyExists:
            series.sent = 1  # an attempt whose outcome was unknown has made it; how often, the next heartbeat says
        except NotFound as error:
            if series.sent and not isinstance(error, NotServed):
                series.sent = 0  # events are not kept for long
                self._plan(series, 0)
            else:
                self._give_up(series, error)
            return
        except _AWAY as error:
            series.tries += 1
            if series.tries >= TRIES:
                self._give_up(series, error)
            else:
                self._plan(series, self._world.chance.uniform(RETRY, 1.25 * RETRY))
            return
        except ApiError as error:
            self._give_up(series, error)
            return
        else:
            series.sent = count
        finally:
            series.under_way = False
        series.tries = 0
        self._plan(series, SERIES_ENDS if series.count == 1 else series.pause)

    async def _call(self, verb: Any, series: Series, body: bytes) -> None:
        await self._client.call(
            Operation(
                verb=verb,
                resource=EVENTS,
                namespace=series.namespace,
                name=series.name if verb == "patch" else "",
                body=body,
                content_type=MERGE_PATCH if verb == "patch" else JSON,
            )
        )

    # what comes next of a series

    def _plan(self, series: Series, seconds: float) -> None:
        """Looks at it again after a while."""
        if self._ending or self._series.get(series.key) is not series:
            return
        if (timer := self._timers.pop(series, None)) is not None:
            timer.cancel()
        if seconds:
            self._timers[series] = asyncio.get_running_loop().call_later(seconds, self._look_at, series)
        else:
            self._enqueue(series)

    def _look_at(self, series: Series) -> None:
        self._timers.pop(series, None)
        if self._series.get(series.key) is not series:
            return
        idle = (self._world.clock.now() - series.last).total_seconds()
        if series.is_due:
            if series.sent:
                series.pause = min(2 * series.pause, LONGEST_PAUSE)
            self._enqueue(series)
        elif idle >= SERIES_ENDS:
            self._forget(series)
        else:
            self._plan(series, SERIES_ENDS - idle)

    def _forget(self, series: Series) -> None:
        if self._series.get(series.key) is series:
            del self._series[series.key]
        self._waiting.pop(series, None)
        if (timer := self._timers.pop(series, None)) is not None:
            timer.cancel()

    def _give_up(self, series: Series, error: ApiError) -> None:
        self._forget(series)
        self._lost(series.body["reason"], series.body["note"], error)

    def _lost(self, reason: str, note: str, error: Exception) -> None:
        """Says that an Event will not be seen, once for each sort of failure; where none is to be expected, not even that."""
        level = logging.WARNING
        if isinstance(error, NotLeading) or _is_of_a_namespace_that_goes(error):
            level = logging.DEBUG
        text = f"an event ({reason}: {note}) was not recorded, and further ones will be lost without a word: {in_words(error)}"
        if isinstance(error, Forbidden) and level == logging.WARNING:
            text += "; recording events takes the verbs create and patch on events in the API group events.k8s.io"
        if level == logging.DEBUG:
            log.debug("%s", text, extra={"controller": self._controller})
        else:
            self._said.once("event lost", type(error).__name__, text, level=level)


class Sieve:
    """How much there is to tell about each object: a bucket of tokens, one of which is taken by each series that begins."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def passes(self, about: str) -> bool:
        """Takes a token, if there is one."""
        now = self._now()
        tokens, at = self._buckets.pop(about, (float(BURST), now))
        tokens = min(float(BURST), tokens + (now - at) / REFILL)
        passes = tokens >= 1
        self._buckets[about] = (tokens - 1 if passes else tokens, now)
        if len(self._buckets) > OBJECTS_KEPT:
            self._buckets.popitem(last=False)
        return passes


def _is_of_a_namespace_that_goes(error: Exception) -> bool:
    if isinstance(error, NotFound):
        return not isinstance(error, NotServed)  # the namespace
    return isinstance(error, Forbidden) and any(cause.reason == "NamespaceTerminating" for cause in error.causes)


__all__ = ["EventRecorder"]
