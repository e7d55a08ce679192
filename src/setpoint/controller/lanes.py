"""Who goes next among the keys that are ready: by priority, within one priority namespaces in turn, and nobody waits for ever.

- The higher priority goes first.
- Within one priority the namespaces that have keys waiting take turns, a key each time, and each gives its keys in the order of their
  arrival. So between two turns of one namespace every other one gets at most one, however many keys it has.
- A key that has been ready for longer than `AGEING` seconds at a priority that does not get its turn is *overdue*: of every `TURNS` turns
  one goes to the key that is overdue longest. So what waits behind higher priorities for ever busy runs all the same, and a fresh change
  waits for one turn of the overdue at most, even if a long start-up listing is overdue as a whole.

All is deterministic, and takes the same time whatever the number of keys and namespaces. What is gone is not remembered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

import msgspec

from setpoint.objects import Request

NORMAL_PRIORITY = 0
"""What a fresh change has."""

LOW_PRIORITY = -100
"""What the start-up listing and resyncs have, as in controller-runtime."""

AGEING = 10.0
"""Seconds after which a key is overdue: enough for the changes of a busy moment to go first, and less than it takes people to worry."""

TURNS = 4
"""Of so many turns one goes to a key that is overdue."""

_SLACK = 64


class Entry(msgspec.Struct, gc=False, eq=False):
    """One ask for a run: what it is for, how urgent, since when. It is `ready` while it is in a lane: from `push` to `take`.

    `ready_since` is the time at which it came to its present priority, being ready.
    """

    key: Request
    priority: int
    since: float
    ready_since: float = 0.0
    ready: bool = False


class _Space(deque[Entry]):
    """The entries of one namespace, in the order of their arrival."""

    __slots__ = ("namespace",)
    namespace: str


class _Lane:
    """The ready entries of one priority.

    `order` has them as they came, for finding the oldest; the highest lane needs none. An entry that was raised to another lane leaves its
    place behind, in its namespace and in `order`; one that was taken in turn leaves it in `order`; a namespace whose last entry was taken
    leaves its turn, for the case that it comes back. Such places are skipped, and dropped before they outnumber the others by `_SLACK`.
    """

    __slots__ = ("left", "order", "priority", "size", "spaces", "turns")

    def __init__(self, priority: int, *, ordered: bool) -> None:
        self.priority = priority
        self.size = 0
        self.left = 0
        self.spaces: dict[str, _Space] = {}
        self.turns: deque[_Space] = deque()  # the same, the next in turn first
        self.order: deque[Entry] | None = deque() if ordered else None

    def push(self, entry: Entry) -> None:
        namespace = entry.key.namespace
        space = self.spaces.get(namespace)
        if space is None:
            space = self.spaces[namespace] = _Space()
            space.namespace = namespace
            self.turns.append(space)
        space.append(entry)
        self.size += 1
        if self.order is not None:
            self.order.append(entry)

    def take_in_turn(self) -> Entry:
        """The first of the namespace whose turn it is; there must be one."""
        turns, priority = self.turns, self.priority
        while True:
            space = turns[0]
            while space:
                entry = space.popleft()
                if not entry.ready or entry.priority != priority:
                    continue
                turns.rotate(-1)
                entry.ready = False
                self.size -= 1
                if not space or self.order is not None:
                    self.left += 1
                    if self.left > _SLACK:
                        self._tidy()
                return entry
            del turns[0], self.spaces[space.namespace]

    def oldest(self) -> Entry:
        """The one that came first; there must be one."""
        order, priority = self._ordered(), self.priority
        while not (order[0].ready and order[0].priority == priority):
            order.popleft()
        return order[0]

    def take_oldest(self) -> Entry:
        """The one that came first, out of turn."""
        entry = self.oldest()
        space = self.spaces[entry.key.namespace]
        while space.popleft() is not entry:
            pass  # places left behind
        entry.ready = False
        self.size -= 1
        self.left += 1
        self._tidy()
        return entry

    def leave(self) -> None:
        """One of its entries went to another lane."""
        self.size -= 1
        self.left += 1
        self._tidy()

    def _ordered(self) -> deque[Entry]:
        """The order in which they came, from now on kept."""
        if self.order is None:
            self.order = deque(sorted((entry for space in self.turns for entry in self._here(space)), key=_came))
        return self.order

    def _tidy(self) -> None:
        """Drops what was left behind, once it is more than what is here: so it costs each of them a constant time."""
        if self.left <= self.size + _SLACK:
            return
        self.left = 0
        for space in self.turns:
            here = self._here(space)
            space.clear()
            space.extend(here)
        self.turns = deque(space for space in self.turns if space)
        self.spaces = {space.namespace: space for space in self.turns}
        if self.order is not None:
            self.order = deque(self._here(self.order))

    def _here(self, entries: Iterable[Entry]) -> list[Entry]:
        return [entry for entry in entries if entry.ready and entry.priority == self.priority]


class Lanes:
    """See the module. `time` is the loop's."""

    def __init__(self, time: Callable[[], float], ageing: float = AGEING) -> None:
        self._time = time
        self._ageing = ageing
        self._size = 0
        self._urgent = 0  # turns since the last one of the overdue
        self._lanes: dict[int, _Lane] = {}
        self._ranked: list[_Lane] = []
        for priority in (NORMAL_PRIORITY, LOW_PRIORITY):
            self._open(priority)

    def __len__(self) -> int:
        return self._size

    def push(self, entry: Entry) -> None:
        """It is ready, since `entry.ready_since`."""
        entry.ready = True
        self._size += 1
        (self._lanes.get(entry.priority) or self._open(entry.priority)).push(entry)

    def lift(self, entry: Entry, priority: int) -> None:
        """It is ready, and from now on of that higher priority, where it joins at the end."""
        lane = self._lanes[entry.priority]
        entry.priority = priority
        entry.ready_since = self._time()
        lane.leave()
        if not lane.size:
            self._close(lane)
        self._size -= 1
        self.push(entry)

    def take(self) -> Entry | None:
        """Whose turn it is; None if none is ready."""
        if not self._size:
            return None
        for lane in self._ranked:
            if lane.size:
                break
        if lane.size == self._size:
            entry = lane.take_in_turn()
        elif self._urgent >= TURNS - 1 and (late := self._overdue(lane)) is not None:
            self._urgent = 0
            lane = late
            entry = lane.take_oldest()
        else:
            self._urgent += 1
            entry = lane.take_in_turn()
        self._size -= 1
        if not lane.size:
            self._close(lane)
        return entry

    def _overdue(self, top: _Lane) -> _Lane | None:
        """The lane below `top` whose oldest entry is overdue, and longest so."""
        longest, found = self._time() - self._ageing, None
        for lane in self._ranked:
            if lane is not top and lane.size:
                since = lane.oldest().ready_since
                if since < longest or (since == longest and found is None):
                    longest, found = since, lane
        return found

    def _open(self, priority: int) -> _Lane:
        lane = self._lanes[priority] = _Lane(priority, ordered=bool(self._ranked) and priority < self._ranked[0].priority)
        self._ranked.append(lane)
        self._ranked.sort(key=_rank)
        return lane

    def _close(self, lane: _Lane) -> None:
        """Drops an empty lane. The two usual ones stay."""
        if lane.priority not in (NORMAL_PRIORITY, LOW_PRIORITY):
            del self._lanes[lane.priority]
            self._ranked.remove(lane)


def _rank(lane: _Lane) -> int:
    return -lane.priority


def _came(entry: Entry) -> float:
    return entry.ready_since
