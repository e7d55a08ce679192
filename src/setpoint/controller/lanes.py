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

from collections import OrderedDict, deque
from collections.abc import Callable

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


class _Lane:
    """The ready entries of one priority.

    An entry that was raised to another lane leaves its place behind, in `spaces` and in `order`; one that was taken leaves it in `order`.
    Such places are skipped, and dropped before they outnumber the others.
    """

    __slots__ = ("left", "order", "priority", "size", "spaces")

    def __init__(self, priority: int) -> None:
        self.priority = priority
        self.size = 0
        self.left = 0
        # By namespace, the next in turn first. Ordered dictionaries find their first item in constant time, dicts do not.
        self.spaces: OrderedDict[str, deque[Entry]] = OrderedDict()
        self.order: deque[Entry] = deque()

    def push(self, entry: Entry) -> None:
        namespace = entry.key.namespace
        space = self.spaces.get(namespace)
        if space is None:
            space = self.spaces[namespace] = deque()
        space.append(entry)
        self.order.append(entry)
        self.size += 1

    def take_in_turn(self) -> Entry:
        """The first of the namespace whose turn it is."""
        spaces, priority = self.spaces, self.priority
        while True:
            namespace = next(iter(spaces))
            space = spaces[namespace]
            entry = space.popleft()
            here = entry.ready and entry.priority == priority
            if not space:
                del spaces[namespace]
            elif here:
                spaces.move_to_end(namespace)
            if here:
                return self._taken(entry)

    def oldest(self) -> Entry:
        """The one that came first; there must be one."""
        order, priority = self.order, self.priority
        while not (order[0].ready and order[0].priority == priority):
            order.popleft()
        return order[0]

    def take_oldest(self) -> Entry:
        """The one that came first, out of turn."""
        entry = self.oldest()
        namespace = entry.key.namespace
        space = self.spaces[namespace]
        while space.popleft() is not entry:
            pass  # places left behind
        if not space:
            del self.spaces[namespace]
        return self._taken(entry)

    def leave(self) -> None:
        """One of its entries went to another lane."""
        self.size -= 1
        self.left += 1
        if not self.size:
            self._clear()
        elif self.left > self.size + _SLACK:
            self._compact()

    def _taken(self, entry: Entry) -> Entry:
        entry.ready = False
        self.size -= 1
        if not self.size:
            self._clear()
            return entry
        order, priority = self.order, self.priority
        while not (order[0].ready and order[0].priority == priority):
            order.popleft()
        return entry

    def _clear(self) -> None:
        self.left = 0
        self.spaces.clear()
        self.order.clear()

    def _compact(self) -> None:
        self.left = 0
        here = [entry for entry in self.order if entry.ready and entry.priority == self.priority]
        self.order = deque(here)
        places = list(self.spaces)
        self.spaces = OrderedDict((namespace, deque()) for namespace in places)
        for entry in here:
            self.spaces[entry.key.namespace].append(entry)
        for namespace in places:
            if not self.spaces[namespace]:
                del self.spaces[namespace]


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
        lane = self._lanes.get(entry.priority)
        if lane is None:
            lane = self._open(entry.priority)
        lane.push(entry)

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
        lane = self._lanes[priority] = _Lane(priority)
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
