"""The work queue: which key runs next. One entry per key, whoever asks and however often.

What it promises:

- a key that was added is given out, once, after the last `add`; adding it again before that changes nothing;
- a key is never given out while it is given out already: what is added meanwhile makes it ready again at `done`;
- of several times at which a key was asked for, the earliest counts, and a run that starts before it is what was asked for;
- a fresh change goes before the initial listing, which nevertheless gets every fourth turn, so that neither waits for ever.

A key is at any time in any of these: *dirty* (wants a run), *processing* (runs), *held* (must not run yet), and it may have a *due* time.
It is in a lane, ready to be given out, exactly if it is dirty and neither processing nor held.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Callable
from contextvars import copy_context

from setpoint.objects import Request
from setpoint.world import Observer

from .backoff import Backoff
from .events import QueueAdded, QueueTaken, TimerSet

TURNS = 4
"""Every so many turns the initial listing goes first."""


class Queue:
    """See the module. It belongs to the running event loop; nothing of it may be called from another thread.

    `name` is the controller's, for observers. Times are the loop's.
    """

    def __init__(self, name: str, backoff: Backoff, observer: Observer | None = None) -> None:
        self.name = name
        self.backoff = backoff
        self._observer = observer or Observer()
        self._loop = asyncio.get_running_loop()
        self._time: Callable[[], float] = self._loop.time
        # Timers must not carry the context variables of whichever run happened to set them.
        self._context = copy_context()
        self._dirty: dict[Request, tuple[bool, float]] = {}  # -> asked for by the initial listing alone?, since when
        self._busy: dict[Request, bool] = {}  # given out, or (True) held: not to be given out now
        self._held = 0
        # A key that moves from one lane to the other leaves its place behind; `_take` skips what its mark no longer agrees with.
        self._fresh: deque[Request] = deque()
        self._initial: deque[Request] = deque()
        self._turn = 0
        self._due: dict[Request, tuple[float, str]] = {}
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
        return len(self._busy) - self._held

    @property
    def is_idle(self) -> bool:
        """Whether no key wants a run, runs, or is held; timers may be pending."""
        return not (self._dirty or self._busy)

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

    def add(self, key: Request, reason: str = "", *, initial: bool = False) -> None:
        """The key wants a run, now."""
        if self._closed:
            return
        mark = self._dirty.get(key)
        if mark is not None:
            if not mark[0] or initial:
                return
            self._dirty[key] = (False, mark[1])
            if key not in self._busy:
                self._fresh.append(key)
            return
        self._dirty[key] = (initial, self._time())
        if self._observer.heard:
            self._observer.emit(QueueAdded(controller=self.name, request=key, reason=reason, initial=initial))
        if key not in self._busy:
            (self._initial if initial else self._fresh).append(key)
            self._wake_one()

    def add_after(self, key: Request, seconds: float, reason: str = "") -> None:
        """The key wants a run in that many seconds, or when it runs anyway, whichever is first."""
        if self._closed:
            return
        if self._observer.heard:
            self._observer.emit(TimerSet(controller=self.name, request=key, reason=reason, after=seconds))
        if seconds <= 0:
            self.add(key, reason)
            return
        due = self._time() + seconds
        known = self._due.get(key)
        if known is not None and known[0] <= due:
            return
        self._due[key] = (due, reason)
        self._pushed += 1
        heapq.heappush(self._heap, (due, self._pushed, key))
        self._set_alarm()

    def add_rate_limited(self, key: Request, reason: str = "") -> float:
        """The key failed, or asked to run again at once: it wants a run after its backoff, whose seconds this gives."""
        seconds = self.backoff.next(key)
        self.add_after(key, seconds, reason)
        return seconds

    def forget(self, key: Request) -> None:
        """The key succeeded: its next backoff starts from the beginning."""
        self.backoff.forget(key)

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

    def hold(self, key: Request) -> None:
        """The key's run has ended, but the next one must wait for `release`; what is added meanwhile is kept."""
        self._busy[key] = True
        self._held += 1

    def release(self, key: Request) -> None:
        """Ends `hold`."""
        del self._busy[key]
        self._held -= 1
        self._ready_again(key)

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
        first, second = (self._initial, self._fresh) if self._turn == TURNS - 1 else (self._fresh, self._initial)
        for lane in (first, second):
            while lane:
                key = lane.popleft()
                mark = self._dirty.get(key)
                if mark is None or mark[0] is not (lane is self._initial) or key in self._busy:
                    continue
                self._turn = (self._turn + 1) % TURNS
                del self._dirty[key]
                if self._due:
                    self._due.pop(key, None)  # this run is what the timer would have asked for
                self._busy[key] = False
                if self._observer.heard:
                    self._observer.emit(QueueTaken(controller=self.name, request=key, waited=self._time() - mark[1]))
                return key
        return None

    def _ready_again(self, key: Request) -> None:
        mark = self._dirty.get(key)
        if mark is not None and not self._closed:
            (self._initial if mark[0] else self._fresh).append(key)
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
        while heap and (due.get(heap[0][2]) or (None,))[0] != heap[0][0]:
            heapq.heappop(heap)
        if len(heap) > 2 * len(due) + 64:
            self._heap = [entry for entry in heap if (due.get(entry[2]) or (None,))[0] == entry[0]]
            heapq.heapify(self._heap)

    def _set_alarm(self) -> None:
        self._drop_met()
        if not self._heap:
            return
        due = self._heap[0][0]
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
            _, reason = self._due.pop(key)
            self.add(key, reason)
            self._drop_met()
        self._set_alarm()
