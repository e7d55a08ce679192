"""The work queue: which key runs next. One entry per key, whoever asks and however often.

What it promises:

- a key that was added is given out, once, after the last `add`; adding it again before that changes nothing;
- a key is never given out while it is given out already: what is added meanwhile makes it ready again at `done`;
- of several times at which a key was asked for, the earliest counts, and a run that starts before it is what was asked for;
- of several priorities at which a key was asked for, the highest counts; and what follows from a run, its retries above all, has its
  priority unless another is given;
- a higher priority goes first, within one priority namespaces take turns, and what waits behind others for `AGEING` seconds gets its turn
  all the same (see `lanes`);
- with `min_interval`, a key rests so many seconds after a run that succeeded; what is added meanwhile is kept.

A key is at any time in any of these: *dirty* (wants a run), *processing* (runs), *held* (must not run yet), *resting* (must not run before
a known time), and it may have a *due* time. It is in a lane, ready to be given out, exactly if it is dirty and none of the next three.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Callable
from contextvars import copy_context
from typing import TypeAlias

from setpoint.objects import Request
from setpoint.world import Observer

from .cause import Cause, as_cause
from .events import PriorityRaised, QueueAdded, QueueTaken, TimerSet, Triggered
from .lanes import AGEING, NORMAL_PRIORITY, Entry, Lanes
from .rate_limiters import RateLimiter

_Timer: TypeAlias = tuple[float, Cause | str, int, int]
"""When a key is due, why, at which priority, and the number of its place in the heap."""


class Queue:
    """See the module. It belongs to the running event loop; nothing of it may be called from another thread.

    `name` is the controller's, for observers. Times are the loop's, in seconds.
    """

    def __init__(
        self,
        name: str,
        limiter: RateLimiter,
        observer: Observer | None = None,
        *,
        min_interval: float = 0.0,
        ageing: float = AGEING,
    ) -> None:
        self.name: str = name
        self.limiter: RateLimiter = limiter
        self._observer = observer or Observer()
        self._loop = asyncio.get_running_loop()
        self._time: Callable[[], float] = self._loop.time
        # Timers must not carry the context variables of whichever run happened to set them.
        self._context = copy_context()
        self._dirty: dict[Request, Entry] = {}
        self._lanes = Lanes(self._time, ageing)
        # What must not be given out now, with the entry that was given out last: it is processing, held or resting.
        self._busy: dict[Request, Entry] = {}
        self._held = 0
        self._min_interval = min_interval
        self._rests: deque[tuple[float, Request]] = deque()  # all of the same length, and so in order
        self._due: dict[Request, _Timer] = {}
        self._heap: list[tuple[float, int, Request]] = []
        self._pushed = 0
        # With its time, which not every loop's handle can tell: uvloop's cannot if that was already past.
        self._alarm: tuple[float, asyncio.Handle] | None = None
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._closed = False

    # what is in it

    def __len__(self) -> int:
        """How many keys want a run: `workqueue_depth`."""
        return len(self._dirty)

    @property
    def processing(self) -> int:
        """How many keys are given out."""
        return len(self._busy) - self._held - len(self._rests)

    @property
    def is_idle(self) -> bool:
        """Whether no key wants a run, runs, or is held; timers may be pending."""
        return not self._dirty and len(self._busy) == len(self._rests)

    def due(self, key: Request) -> float | None:
        """When the key's timer goes off, in the loop's time; None if it has none."""
        timer = self._due.get(key)
        return timer[0] if timer is not None else None

    @property
    def next_due(self) -> float | None:
        """When the first timer goes off."""
        self._drop_met()
        return self._heap[0][0] if self._heap else None

    # asking for a run

    def add(self, key: Request, reason: Cause | str = "", *, priority: int = NORMAL_PRIORITY) -> None:
        """The key wants a run, now. `reason` is for observers alone."""
        if self._closed:
            return
        heard = self._observer.heard
        if heard:
            self._observer.emit(Triggered(controller=self.name, request=key, cause=as_cause(reason)))
        entry = self._dirty.get(key)
        if entry is not None:
            if priority > entry.priority:
                self._raise(entry, priority)
            return
        now = self._time()
        entry = self._dirty[key] = Entry(key, priority, now, now)
        if heard:
            self._observer.emit(QueueAdded(controller=self.name, request=key, cause=as_cause(reason), priority=priority))
        if key not in self._busy:
            self._lanes.push(entry)
            self._wake_one()

    def add_after(self, key: Request, seconds: float, reason: Cause | str = "", *, priority: int | None = None) -> None:
        """The key wants a run in that many seconds, or when it runs anyway, whichever is first.

        Without `priority` it has that of the key's run, if it is running, and else the normal one.
        """
        if self._closed:
            return
        if self._observer.heard:
            self._observer.emit(TimerSet(controller=self.name, request=key, cause=as_cause(reason), after=seconds))
        if priority is None:
            run = self._busy.get(key)
            priority = NORMAL_PRIORITY if run is None else run.priority
        if seconds <= 0:
            self.add(key, reason, priority=priority)
            return
        due = self._time() + seconds
        known = self._due.get(key)
        if known is not None:
            priority = max(priority, known[2])
            if known[0] <= due:
                self._due[key] = known[0], known[1], priority, known[3]
                return
        self._pushed += 1
        self._due[key] = due, reason, priority, self._pushed
        heapq.heappush(self._heap, (due, self._pushed, key))
        self._set_alarm()

    def add_rate_limited(self, key: Request, reason: Cause | str = "", *, priority: int | None = None) -> float:
        """The key failed, or asked to run again at once: it wants a run when the rate limiter lets it, in the seconds that this gives."""
        seconds = self.limiter.next(key)
        self.add_after(key, seconds, reason, priority=priority)
        return seconds

    def forget(self, key: Request) -> None:
        """The key succeeded: the rate limiter starts from the beginning."""
        self.limiter.forget(key)

    # giving out

    async def get(self) -> Request | None:
        """The next key, as soon as there is one; it counts as processing until `done`. None when the queue is shut down."""
        while not self._closed:
            key = self._take()
            if key is not None:
                return key
            waiter = self._loop.create_future()
            self._waiters.append(waiter)
            try:
                await waiter
            except asyncio.CancelledError:
                if waiter.done() and not waiter.cancelled():
                    self._wake_one()  # it was meant for whoever can still use it
                raise
        return None

    def done(self, key: Request) -> None:
        """The key's run has ended. If it became dirty meanwhile it is ready again."""
        del self._busy[key]
        self._ready_again(key)

    def rest(self, key: Request) -> None:
        """The key's run has ended, and succeeded: as `done`, but with a `min_interval` the key rests first."""
        if self._min_interval <= 0 or self._closed:
            self.done(key)
            return
        self._busy[key].priority = NORMAL_PRIORITY  # the run's priority ends with it
        self._rests.append((self._time() + self._min_interval, key))
        self._set_alarm()

    def hold(self, key: Request) -> None:
        """The key's run has ended, but the next one must wait for `release`; what is added meanwhile is kept."""
        self._busy[key].priority = NORMAL_PRIORITY
        self._held += 1

    def release(self, key: Request, *, rest: bool = False) -> None:
        """Ends `hold`; from now on as after `rest`, if the run has succeeded."""
        self._held -= 1
        if rest:
            self.rest(key)
        else:
            self.done(key)

    def shut_down(self) -> None:
        """Gives out nothing more, takes nothing more, and wakes all who wait. Runs in progress end with `done` as ever."""
        self._closed = True
        if self._alarm is not None:
            self._alarm[1].cancel()
            self._alarm = None
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)
        self._waiters.clear()

    # inside

    def _take(self) -> Request | None:
        entry = self._lanes.take()
        if entry is None:
            return None
        key = entry.key
        del self._dirty[key]
        if self._due:
            self._due.pop(key, None)  # this run is what the timer would have asked for
        self._busy[key] = entry
        if self._observer.heard:
            waited = self._time() - entry.since
            self._observer.emit(QueueTaken(controller=self.name, request=key, priority=entry.priority, waited=waited))
        return key

    def _raise(self, entry: Entry, priority: int) -> None:
        before = entry.priority
        if entry.ready:
            self._lanes.lift(entry, priority)
        else:
            entry.priority = priority
        if self._observer.heard:
            self._observer.emit(PriorityRaised(controller=self.name, request=entry.key, before=before, priority=priority))

    def _ready_again(self, key: Request) -> None:
        entry = self._dirty.get(key)
        if entry is not None and not self._closed:
            entry.ready_since = self._time()
            self._lanes.push(entry)
            self._wake_one()

    def _wake_one(self) -> None:
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return

    def _drop_met(self) -> None:
        """Drops entries of the heap whose timer was met by a run, or replaced by an earlier one."""
        heap, due = self._heap, self._due
        while heap and ((timer := due.get(heap[0][2])) is None or timer[3] != heap[0][1]):
            heapq.heappop(heap)
        if len(heap) > 2 * len(due) + 64:
            self._heap = [place for place in heap if (timer := due.get(place[2])) is not None and timer[3] == place[1]]
            heapq.heapify(self._heap)

    def _set_alarm(self) -> None:
        self._drop_met()
        if self._heap:
            due = min(self._heap[0][0], self._rests[0][0]) if self._rests else self._heap[0][0]
        elif self._rests:
            due = self._rests[0][0]
        else:
            return
        if self._alarm is not None:
            if self._alarm[0] <= due:
                return  # it will look again when it goes off
            self._alarm[1].cancel()
        self._alarm = due, self._loop.call_at(due, self._ring, context=self._context)

    def _ring(self) -> None:
        self._alarm = None
        now = self._time()
        self._drop_met()
        while self._heap and self._heap[0][0] <= now:
            key = heapq.heappop(self._heap)[2]
            _, reason, priority, _ = self._due.pop(key)
            self.add(key, reason, priority=priority)
            self._drop_met()
        while self._rests and self._rests[0][0] <= now:
            self.done(self._rests.popleft()[1])
        self._set_alarm()
