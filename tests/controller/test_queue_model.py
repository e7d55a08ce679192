"""100,000 moves of the queue against the laws of `queue_model`; and the laws notice a queue that breaks them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from setpoint.controller import lanes
from setpoint.controller.lanes import Lanes, _Lane
from setpoint.controller.queue import Queue

from .queue_model import QueueMachine

STEPS = 250
QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def test_no_key_is_lost_or_runs_twice_the_earliest_time_is_kept_nobody_starves_and_namespaces_share_over_100_000_moves() -> None:
    class Counted(QueueMachine):
        steps = 0

    quiet = settings(max_examples=100, stateful_step_count=STEPS, deadline=None, database=None, suppress_health_check=QUIET)
    while Counted.steps < 100_000:  # an example may end before all its steps
        run_state_machine_as_test(Counted, settings=quiet)


def _lifo(lane: _Lane) -> Any:
    lane.turns[0].rotate(1)
    return _TAKE_IN_TURN(lane)


def _unfair(lane: _Lane) -> Any:
    first = lane.turns[0]
    entry = _TAKE_IN_TURN(lane)
    if first:
        lane.turns.remove(first)
        lane.turns.appendleft(first)
    return entry


def _later(queue: Queue, key: Any, seconds: float, reason: Any = "", *, priority: int | None = None) -> None:
    queue._due.pop(key, None)
    _ADD_AFTER(queue, key, seconds, reason, priority=priority)


def _twice(queue: Queue, key: Any, reason: Any = "", *, priority: int = 0) -> None:
    entry = queue._busy.pop(key, None)
    _ADD(queue, key, reason, priority=priority)
    if entry is not None:
        queue._busy[key] = entry


def _lost(queue: Queue, key: Any) -> None:
    queue._dirty.pop(key, None)
    _DONE(queue, key)


def _unheard(queue: Queue, entry: Any, priority: int) -> None:
    """A key that is asked for at a higher priority stays where it is."""


_TAKE_IN_TURN, _ADD_AFTER, _ADD, _DONE = _Lane.take_in_turn, Queue.add_after, Queue.add, Queue.done

BROKEN: dict[str, tuple[Any, str, Any]] = {
    "the last key of a namespace goes first": (_Lane, "take_in_turn", _lifo),
    "a namespace goes on until it has no key left": (_Lane, "take_in_turn", _unfair),
    "nothing is ever overdue": (Lanes, "_overdue", lambda lanes, top: None),
    "the overdue get every turn": (lanes, "TURNS", 1),
    "the last time counts, not the earliest": (Queue, "add_after", _later),
    "a key is given out while it runs": (Queue, "add", _twice),
    "what is added during a run is forgotten": (Queue, "done", _lost),
    "a higher priority is not heard": (Queue, "_raise", _unheard),
    "a lower priority goes first": (lanes, "_rank", lambda lane: lane.priority),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_broken_a_queue_that_breaks_a_promise_is_noticed(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place, name, instead = BROKEN[fault]
    monkeypatch.setattr(place, name, instead)
    few = settings(
        max_examples=200,
        stateful_step_count=100,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=QUIET,
        print_blob=False,
    )
    with pytest.raises((AssertionError, LookupError, BaseExceptionGroup)):
        run_state_machine_as_test(QueueMachine, settings=few)
