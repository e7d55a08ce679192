"""The reflector's transitions, as a table: a state, what happens, the state that follows, and what follows for the base."""

import pytest

from setpoint.api import ApiError, Status, StatusDetails
from setpoint.api.status import expired, failure
from setpoint.api.watch import encode_frame
from setpoint.cache.entry import Entry
from setpoint.cache.machine import Machine
from setpoint.cache.states import (
    Advance,
    Asking,
    Broke,
    Collecting,
    Ended,
    Failed,
    Frames,
    Opened,
    Page,
    Paging,
    Put,
    Remove,
    Replace,
    Rested,
    Resting,
    Resuming,
    Silent,
    Watching,
)
from setpoint.objects import Request, kind_of

from .model import Widget, bookmark, widget

A = Request("default", "a")


def entry(version):
    return Entry(widget("a", version), "uid-a", version)


def event(type, version):
    return encode_frame(type, widget("a", version))


def error(code, reason=""):
    return encode_frame("ERROR", failure(code, reason, "no").status.encode())


def unreachable():
    return Failed(ApiError(Status(message="connection refused")))


def refused(code, after=0):
    return Failed(failure(code, "", "no", StatusDetails(retry_after_seconds=after)))


def rest(then, seconds=0.2):
    return Resting, then, seconds


TABLE = [
    # lists
    (Asking(), Opened(), Collecting({}), []),
    (Asking(), refused(422), Paging({}), []),
    (Asking(), refused(403), Paging({}), []),
    (Asking(), refused(429, after=7), rest(Asking(), 7), []),
    (Asking(), refused(401), rest(Asking()), []),
    (Asking(), refused(500), rest(Asking()), []),
    (Asking(), unreachable(), rest(Asking()), []),
    (Collecting({}), Frames([event("ADDED", 3)]), Collecting({A: entry(3)}), []),
    (Collecting({A: entry(3)}), Frames([event("MODIFIED", 5)]), Collecting({A: entry(5)}), []),
    (Collecting({A: entry(3)}), Frames([event("DELETED", 5)]), Collecting({}), []),
    (Collecting({A: entry(3)}), Frames([bookmark(9)]), Collecting({A: entry(3)}), []),
    (Collecting({A: entry(3)}), Frames([bookmark(9, initial_end=True)]), Watching(9, 9), [Replace({A: entry(3)}, 9)]),
    (
        Collecting({}),
        Frames([bookmark(9, initial_end=True), event("ADDED", 10)]),
        Watching(10, 10),
        [Replace({}, 9), Put(A, entry(10), "ADDED")],
    ),
    (Collecting({}), Frames([error(410, "Expired")]), rest(Asking()), []),
    (Collecting({}), Silent(15), Paging({}), []),
    (Collecting({}), Broke("reset"), rest(Asking()), []),
    (Collecting({}), Ended(3), rest(Asking()), []),
    (Paging({}), Page([widget("a", 3)], 9, "more"), Paging({A: entry(3)}, continue_="more", version=9), []),
    (Paging({}, continue_="more", version=9), Page([widget("a", 3)], 11), Resuming(9), [Replace({A: entry(3)}, 9)]),
    (Paging({}, continue_="more", version=9), Failed(expired("too old")), rest(Paging({}, limit=0)), []),
    (Paging({}, continue_="more", version=9), unreachable(), rest(Paging({}, continue_="more", version=9)), []),
    # watches
    (Resuming(9), Opened(), Watching(9), []),
    (Resuming(9), Failed(expired("too old")), Asking(), []),
    (Resuming(9), refused(400), rest(Asking()), []),
    (Resuming(9), refused(429, after=7), rest(Resuming(9), 7), []),
    (Resuming(9), refused(503), rest(Resuming(9)), []),
    (Watching(9), Frames([event("MODIFIED", 11)]), Watching(11, 11), [Put(A, entry(11), "MODIFIED")]),
    (Watching(9), Frames([event("DELETED", 11)]), Watching(11, 11), [Remove(A, entry(11))]),
    (Watching(9), Frames([bookmark(12)]), Watching(12, 12), [Advance(12)]),
    (Watching(9), Frames([event("MODIFIED", 7), event("MODIFIED", 8)]), Watching(9, 8), []),
    (Watching(9, 9), Frames([event("MODIFIED", 8)]), rest(Asking()), []),
    (Watching(9), Frames([event("MODIFIED", 11), event("MODIFIED", 10)]), rest(Asking()), [Put(A, entry(11), "MODIFIED")]),
    (Watching(9), Frames([event("ADDED", 11), error(410, "Expired")]), Asking(), [Put(A, entry(11), "ADDED")]),
    (Watching(9), Frames([event("ADDED", 11), error(500)]), rest(Resuming(11)), [Put(A, entry(11), "ADDED")]),
    (Watching(9), Frames([error(429)]), rest(Resuming(9)), []),
    (Watching(9), Ended(300), Resuming(9), []),
    (Watching(11, 11), Ended(0.1), Resuming(11), []),
    (Watching(9), Ended(0.1), rest(Resuming(9)), []),
    (Watching(9), Broke("reset"), rest(Resuming(9)), []),
    (Watching(9), Silent(90), rest(Resuming(9)), []),
    (Watching(9), Frames([bookmark(7)]), rest(Asking()), []),
    # pauses
    (Resting(Resuming(9), 1.0, "reset"), Rested(), Resuming(9), []),
]


def machine(state):
    made = Machine(kind_of(Widget), lambda seconds: seconds)
    made.state = state
    made.base = state.version if isinstance(state, Resuming | Watching) else None
    return made


@pytest.mark.parametrize(
    ("state", "input", "then", "effects"), TABLE, ids=[f"{type(s).__name__}-{type(i).__name__}-{n}" for n, (s, i, _, _) in enumerate(TABLE)]
)
def test_transition(state, input, then, effects):
    moved = machine(state)
    assert moved.step(input) == effects
    if isinstance(then, tuple):
        assert isinstance(moved.state, Resting)
        assert (moved.state.then, moved.state.seconds) == then[1:]
        assert moved.state.served
        assert moved.reason
    else:
        assert moved.state == then


@pytest.mark.parametrize("state", [Asking(), Paging({}), Resuming(9)])
def test_404_says_that_the_kind_is_not_served_and_asks_again(state):
    moved = machine(state)
    assert moved.step(refused(404)) == []
    assert moved.state.name == "NotServed"
    assert moved.state.then == Asking()


@pytest.mark.parametrize(
    ("state", "input"), [(Asking(), Rested()), (Watching(9), Page([], 9)), (Resuming(9), Ended(1)), (Paging({}), Opened())]
)
def test_what_a_state_does_not_expect_is_refused(state, input):
    with pytest.raises(ValueError, match="makes no sense"):
        machine(state).step(input)


def test_pauses_double_up_to_half_a_minute_and_an_event_makes_them_short_again():
    moved = machine(Resuming(9))
    pauses = []
    for _ in range(12):
        moved.step(unreachable())
        pauses.append(moved.state.seconds)
        moved.step(Rested())
    assert pauses[:4] == [0.2, 0.4, 0.8, 1.6]
    assert pauses[-1] == 30
    moved.step(Opened())
    moved.step(Frames([bookmark(10)]))
    moved.step(Broke("reset"))
    assert moved.state.seconds == 0.2


def test_builtin_kinds_without_their_name_in_lists_look_as_they_do_in_watches():
    bare = widget("a", 3).replace(b'"apiVersion":"example.com/v1","kind":"Widget",', b"")
    (replace,) = machine(Paging({})).step(Page([bare], 9))
    assert replace.found[A].data == widget("a", 3)
