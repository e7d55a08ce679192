"""What the queue promises, as laws over a model that a reader can check by eye: plain dicts, plain searches, no lanes and no heap.

The machine makes any sequence of moves in simulated time. It does not say which key must come next, but what must be true of the one that
came: so it is no second queue, and holds for any queue that keeps the promises.
"""

from __future__ import annotations

import asyncio

import hypothesis.strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from setpoint.controller import Queue
from setpoint.controller.backoff import Backoff
from setpoint.controller.lanes import AGEING, TURNS
from setpoint.objects import Request
from setpoint.world import SeededChance, new_loop

KEYS = [Request(namespace, name) for namespace in ("", "blue", "red") for name in "abcd"]
PRIORITIES = [-100, 0, 7]
REST = 3.0


class Want:
    """A key that wants a run: how urgently, and if it is ready, since when, and after how many others."""

    def __init__(self, priority: int) -> None:
        self.priority = priority
        self.place = 0
        self.since = 0.0
        self.passed = 0
        """Turns that others got while it was overdue."""


class QueueMachine(RuleBasedStateMachine):
    """The laws are in `check_the_choice`; the rest is book-keeping."""

    steps = 0
    """Moves made by all machines of this class, for the test that counts them."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = new_loop()
        self.queue = self.loop.run_until_complete(self.make())
        self.wanted: dict[Request, Want] = {}
        self.running: dict[Request, int] = {}
        self.held: dict[Request, None] = {}
        self.resting: dict[Request, tuple[float, int]] = {}
        self.due: dict[Request, tuple[float, int, int]] = {}  # when, in which order they were set, at which priority
        self.count = 0
        self.in_a_row = TURNS  # turns since one was given to the overdue
        self.kept_waiting = 0  # those among them while anybody was overdue
        self.ahead: dict[tuple[int, str], dict[str, int]] = {}  # for a namespace that waits: the turns of each other one meanwhile

    async def make(self) -> Queue:
        return Queue("test", Backoff(SeededChance(0)), min_interval=REST)

    # the book-keeping

    def is_blocked(self, key: Request) -> bool:
        return key in self.running or key in self.held or key in self.resting

    @property
    def ready(self) -> dict[Request, Want]:
        return {key: want for key, want in self.wanted.items() if not self.is_blocked(key)}

    def number(self) -> int:
        self.count += 1
        return self.count

    def join(self, key: Request, now: float) -> None:
        want = self.wanted.get(key)
        if want is not None and not self.is_blocked(key):
            want.place, want.since, want.passed = self.number(), now, 0

    def ask(self, key: Request, priority: int, now: float) -> None:
        want = self.wanted.get(key)
        if want is None:
            self.wanted[key] = Want(priority)
            self.join(key, now)
        elif priority > want.priority:
            want.priority = priority
            self.join(key, now)

    def happen(self, until: float) -> None:
        """What timers do by then, in their order."""
        while True:
            timers = [(when, 0, number, key) for key, (when, number, _) in self.due.items() if when <= until]
            rests = [(when, 1, number, key) for key, (when, number) in self.resting.items() if when <= until]
            if not timers + rests:
                return
            when, is_rest, _, key = min(timers + rests)
            if is_rest:
                del self.resting[key]
                self.join(key, when)
            else:
                _, _, priority = self.due.pop(key)
                self.ask(key, priority, when)

    # the moves

    @rule(key=st.sampled_from(KEYS), priority=st.sampled_from(PRIORITIES))
    def add(self, key: Request, priority: int) -> None:
        self.queue.add(key, priority=priority)
        self.ask(key, priority, self.loop.time())

    @rule(key=st.sampled_from(KEYS), seconds=st.integers(0, 20), priority=st.sampled_from([None, *PRIORITIES]))
    def add_after(self, key: Request, seconds: int, priority: int | None) -> None:
        self.queue.add_after(key, seconds, priority=priority)
        if priority is None:
            priority = self.running.get(key, 0)
        if seconds == 0:
            self.ask(key, priority, self.loop.time())
            return
        when = self.loop.time() + seconds
        known = self.due.get(key)
        if known is None:
            self.due[key] = when, self.number(), priority
        elif when < known[0]:
            self.due[key] = when, self.number(), max(priority, known[2])
        else:
            self.due[key] = known[0], known[1], max(priority, known[2])

    @rule(seconds=st.integers(1, 12))
    def pass_time(self, seconds: int) -> None:
        self.loop.run_until_complete(asyncio.sleep(seconds))
        self.happen(self.loop.time())

    @rule()
    def get(self) -> None:
        self.take()

    @rule(turns=st.integers(1, 8))
    def be_busy(self, turns: int) -> None:
        """Keys that ask for themselves again, one after the other: the load that never ends."""
        for _ in range(turns):
            key = self.take()
            if key is None:
                return
            priority = self.running[key]
            self.queue.add(key, priority=priority)
            self.ask(key, priority, self.loop.time())
            self.queue.done(key)
            del self.running[key]
            self.join(key, self.loop.time())

    @precondition(lambda self: self.running)
    @rule(data=st.data(), how=st.sampled_from(["done", "rest", "hold", "retry"]))
    def end_a_run(self, data: st.DataObject, how: str) -> None:
        key = data.draw(st.sampled_from(list(self.running)))
        now = self.loop.time()
        if how == "retry":
            seconds = 1 + self.queue.limiter.failures(key) % 3
            self.queue.add_after(key, seconds)
            known = self.due.get(key)
            priority = max(self.running[key], known[2] if known else self.running[key])
            when = now + seconds
            self.due[key] = (when, self.number(), priority) if known is None or when < known[0] else (known[0], known[1], priority)
        getattr(self.queue, "done" if how == "retry" else how)(key)
        del self.running[key]
        if how == "hold":
            self.held[key] = None
        elif how == "rest":
            self.resting[key] = now + REST, self.number()
        else:
            self.join(key, now)

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(list(self.held)))
        self.queue.release(key)
        del self.held[key]
        self.join(key, self.loop.time())

    # the laws

    def take(self) -> Request | None:
        key = taken_now(self.queue)
        ready = self.ready
        if key is None:
            assert not ready, f"{list(ready)} want a run and were not given out"
            return None
        assert key in ready, f"{key} was given out, but only {list(ready)} may run"
        self.check_the_choice(key, ready)
        self.running[key] = self.wanted.pop(key).priority
        self.due.pop(key, None)
        self.forget_turns()  # its namespace may be waiting no more, and begin anew before this move is over
        return key

    def check_the_choice(self, key: Request, ready: dict[Request, Want]) -> None:
        chosen, now = ready[key], self.loop.time()
        top = max(want.priority for want in ready.values())
        overdue = [want for want in ready.values() if want.priority < top and now - want.since >= AGEING]
        in_line = [want.place for other, want in ready.items() if want.priority == chosen.priority and other.namespace == key.namespace]
        assert chosen.place == min(in_line), f"{key} was not the first of its namespace"
        if chosen.priority < top:
            assert chosen in overdue, f"{key} of priority {chosen.priority} went before {top}, and is not overdue"
            assert chosen.since == min(want.since for want in overdue), f"{key} was not the longest overdue"
            assert self.in_a_row >= TURNS - 1, "the overdue got more than their share"
            self.in_a_row = 0
        else:
            self.in_a_row += 1
            self.check_fairness(key, top, ready)
        for want in overdue:
            want.passed += 1
            assert want is chosen or want.passed < TURNS * len(KEYS), "somebody waits for ever"
        self.kept_waiting = self.kept_waiting + 1 if overdue and chosen.priority == top else 0
        assert self.kept_waiting < TURNS, "the overdue got less than their share"

    def check_fairness(self, key: Request, top: int, ready: dict[Request, Want]) -> None:
        """Between two turns of a namespace that has keys waiting, every other one gets at most one."""
        waiting = dict.fromkeys(other.namespace for other, want in ready.items() if want.priority == top)
        for namespace in waiting:
            if namespace != key.namespace:
                ahead = self.ahead.setdefault((top, namespace), {})
                ahead[key.namespace] = ahead.get(key.namespace, 0) + 1
                assert ahead[key.namespace] <= 1, f"namespace {key.namespace!r} got two turns while {namespace!r} waited"
        self.ahead.pop((top, key.namespace), None)

    @invariant()
    def the_counts_agree(self) -> None:
        type(self).steps += 1
        assert len(self.queue) == len(self.wanted)
        assert self.queue.processing == len(self.running)
        assert self.queue.is_idle == (not self.wanted and not self.running and not self.held)
        for key, (when, _, _) in self.due.items():
            assert self.queue.due(key) == when
        assert self.queue.next_due == min((when for when, _, _ in self.due.values()), default=None)
        self.forget_turns()

    def forget_turns(self) -> None:
        """Who does not wait has nobody ahead."""
        here = dict.fromkeys((want.priority, key.namespace) for key, want in self.ready.items())
        self.ahead = {place: turns for place, turns in self.ahead.items() if place in here}

    def teardown(self) -> None:
        """Nothing is lost: once all runs have ended and all timers rung, every key that wants a run gets one. Then nothing more."""
        try:
            for key in [*self.held]:
                self.queue.release(key)
                del self.held[key]
                self.join(key, self.loop.time())
            for key in [*self.running]:
                self.queue.done(key)
                del self.running[key]
                self.join(key, self.loop.time())
            self.pass_time(100)
            while self.take() is not None:
                pass
            assert not self.wanted
            assert not self.due
            self.queue.shut_down()
            self.queue.add(KEYS[0])
            for key in self.running:
                self.queue.done(key)
            assert taken_now(self.queue) is None
        finally:
            self.loop.close()


def taken_now(queue: Queue) -> Request | None:
    """What a worker that asks is given at once; None if it would have to wait."""
    asking = queue.get()
    try:
        waiter = asking.send(None)
    except StopIteration as given:
        return given.value
    waiter.cancel()
    try:
        asking.throw(asyncio.CancelledError)
    except asyncio.CancelledError:
        return None
    raise AssertionError("it went on waiting after it was cancelled")
