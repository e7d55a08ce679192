"""The rules of an election, one by one: what follows from what, without a server, a clock or a thread."""

import math

import pytest

from setpoint.manager import LeaderElection
from setpoint.manager.election.rules import Rules, decide, step
from setpoint.manager.election.states import (
    Acquiring,
    Granted,
    Leading,
    Read,
    Record,
    Refused,
    Released,
    Releasing,
    Seen,
    Standby,
    Stop,
    Unknown,
    Wait,
    Write,
)

ELECTION = LeaderElection(name="writer", namespace="default")
RULES = Rules(election=ELECTION, identity="me", jitter=lambda seconds: 2 * seconds)
LEADING = Leading(version="7", renewed=100.0, try_at=102.0)


def held(version: str, holder: str = "other", renewed: str = "") -> Record:
    return Record(version=version, holder=holder, seconds=15, renewed=renewed or version, transitions=1)


def requests_until(state, given, now: float, until: float) -> int:
    """How many requests a state sends until then to a server that answers each write with the same, and each read with our own record."""
    count = 0
    while now < until and isinstance(state, Leading | Releasing):
        state, do = decide(state, now, RULES)
        match do:
            case Wait(at):
                now = max(at, now)
                continue
            case Read():
                state = step(state, Seen(held(str(count), "me")), now, RULES)
            case Write():
                state = step(state, given(now), now, RULES)
        count += 1
        assert count < 1000, "it asks without a pause"
    return count


def test_a_holder_reads_a_lease_that_was_touched_at_once_and_renews_it():
    state = step(LEADING, Refused(102.0, "it has another version"), 102.1, RULES)
    assert decide(state, 102.1, RULES)[1] == Read(by=110.0)
    state = step(state, Seen(held("8", "me")), 102.2, RULES)
    assert decide(state, 102.2, RULES)[1] == Write(version="8", holder="me", seconds=15, by=110.0)


@pytest.mark.parametrize("state", [LEADING, Releasing(version="7", until=110.0)])
def test_a_server_that_refuses_for_ever_is_not_asked_without_a_pause(state):
    assert requests_until(state, lambda now: Refused(now, "no"), 102.0, 110.0) < 50


def test_a_renewal_whose_outcome_is_unknown_is_no_renewal():
    state = step(LEADING, Unknown(102.0, "the connection was reset"), 102.5, RULES)
    assert isinstance(state, Leading)
    assert state.deadline(ELECTION) == 110.0


def test_a_holder_counts_from_when_the_renewal_was_sent_and_not_from_its_answer():
    state = step(LEADING, Granted(102.0, "8"), 106.9, RULES)
    assert isinstance(state, Leading)
    assert state.deadline(ELECTION) == 112.0


def test_a_standby_respects_a_holder_from_when_it_saw_the_renewal():
    state = step(Standby(), Seen(held("1")), 50.0, RULES)
    state = step(state, Seen(held("2")), 60.0, RULES)
    assert decide(state, 60.0, RULES)[1] == Wait(75.0)
    touched = step(state, Seen(held("3", renewed="2")), 70.0, RULES)
    assert decide(touched, 70.0, RULES)[1] == Wait(75.0)  # an annotation is no sign of life
    assert isinstance(decide(touched, 75.0, RULES)[0], Acquiring)


def test_a_standby_that_was_refused_lets_others_go_first_but_takes_a_lease_that_is_given_back_at_once():
    seen = step(Standby(), Seen(held("1", "")), 50.0, RULES)
    acquiring, _ = decide(seen, 50.0, RULES)
    refused = step(acquiring, Refused(50.0, "somebody was quicker"), 50.1, RULES)
    third = step(refused, Seen(held("2", "third")), 50.2, RULES)
    assert decide(third, 50.2, RULES)[1] == Wait(65.2)
    given_back = step(third, Seen(held("3", "")), 50.5, RULES)
    assert isinstance(decide(given_back, 50.5, RULES)[0], Acquiring)


def test_a_standby_whose_try_may_have_succeeded_looks_before_it_ends():
    acquiring = Acquiring(standby=Standby(read_at=None, version="1"))
    unsure = step(acquiring, Unknown(50.0, "reset"), 55.0, RULES)
    assert isinstance(step(unsure, Stop(), 56.0, RULES), Releasing)
    assert step(Standby(), Stop(), 56.0, RULES) == Released()


def test_a_deleted_lease_is_made_anew_by_its_holder_and_not_by_a_standby_that_saw_it():
    standby = step(step(Standby(), Seen(held("1")), 50.0, RULES), Seen(None), 51.0, RULES)
    assert decide(standby, 51.0, RULES)[1] == Wait(65.0)
    holder = step(step(LEADING, Refused(102.0, "not found"), 102.1, RULES), Seen(None), 102.2, RULES)
    made = decide(holder, 102.2, RULES)[1]
    assert isinstance(made, Write)
    assert (made.version, made.transitions) == ("", 0)


def test_a_lease_duration_is_a_whole_number_on_the_wire_too():
    assert repr(LeaderElection(name="a", namespace="b", lease_duration=15.0).lease_duration) == "15"  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["a/b", "..", "a%2fb"])
def test_a_name_that_leads_elsewhere_is_refused(name):
    with pytest.raises(ValueError, match="is no name of a Lease"):
        LeaderElection(name=name, namespace="default")


def test_a_holder_that_was_not_renewed_is_lost_at_its_deadline_and_not_later():
    assert decide(LEADING, 109.999, RULES)[1] != Wait(109.999)
    lost, _ = decide(LEADING, 110.0, RULES)
    assert "was not renewed for 10 s" in lost.reason
    assert math.isfinite(LEADING.deadline(ELECTION))
