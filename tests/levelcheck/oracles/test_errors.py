"""O7: invariants hold. O10: nothing fails that does not fail without the fault."""

from __future__ import annotations

import pytest
from tests.levelcheck.oracles.build import CASE, Tape

from setpoint.levelcheck.oracles import judge, judge_reference
from setpoint.levelcheck.oracles.errors import errors
from setpoint.levelcheck.recording import Failed, Recording


def _failing(error: str, times: int = 1, *, result: str = "error") -> Recording:
    tape = Tape()
    for _ in range(times):
        tape.begin()
        tape.end(result, error)
    tape.begin()
    tape.end()
    tape.rest()
    return tape.recording()


_FINE = _failing("", 0)


def test_an_exception_that_says_that_the_program_is_wrong_is_a_finding_though_another_run_heals_it() -> None:
    (found,) = errors(_FINE, _failing("KeyError: 'node-1'"))
    assert (found.oracle, found.warning) == ("O10", False)
    assert found.sentence == "the run for shop default/web fails, as it does not without the fault: KeyError: 'node-1'"


@pytest.mark.parametrize("error", ["ServiceUnavailable: later", "Conflict: it has changed", "NotFound: it is gone", "Lost: no answer came"])
def test_what_a_server_may_answer_at_any_time_is_none(error: str) -> None:
    assert errors(_FINE, _failing(error, 20)) == []


def test_an_exception_of_the_users_own_that_heals_is_a_warning() -> None:
    (found, *_) = errors(_FINE, _failing("NotYet: the claim is not bound"))
    assert found.warning


def test_what_fails_in_the_reference_as_well_is_none() -> None:
    assert errors(_failing("KeyError: 'a'"), _failing("KeyError: 'b'")) == []
    findings, _ = judge_reference(CASE, _failing("KeyError: 'a'"))
    assert [found.oracle for found in findings if not found.warning] == ["O10"]


def test_what_is_refused_as_invalid_again_and_again_is_a_finding_and_once_is_a_race() -> None:
    assert errors(_FINE, _failing("Invalid: no new finalizers", 1)) == []
    (found,) = errors(_FINE, _failing("Invalid: no new finalizers", 5))
    assert "is refused again and again" in found.sentence


def test_a_program_that_ends_and_an_exception_that_nothing_handles_are_findings() -> None:
    tape = Tape()
    tape.die("RuntimeError: nobody watches")
    (found,) = errors(_FINE, tape.recording())
    assert found.sentence == "the program ends, as it does not without the fault: RuntimeError: nobody watches"
    tape = Tape()
    tape.moments.append(Failed(at=1.0, process="", error="TypeError: None", where="a task that nobody awaits"))
    (found,) = errors(_FINE, tape.recording())
    assert found.sentence == "an exception that nothing handles in a task that nobody awaits: TypeError: None"


def test_a_crash_by_the_plan_and_the_end_of_leadership_are_none() -> None:
    tape = Tape()
    tape.fault()
    tape.die()
    tape.start("p2")
    tape.die("LeadershipLost: another one leads")
    assert errors(_FINE, tape.recording()) == []


def test_an_invariant_that_does_not_hold_is_a_finding_and_without_faults_says_nothing() -> None:
    tape = Tape()
    broken = tape.recording(violated=("at_most_one_primary: there are 2 (revision 12, 3.0 s)",))
    found = judge(CASE, _FINE, broken)[0]
    assert (found.oracle, found.role, found.verdict) == ("O7", "at_most_one_primary", "REFUTED")
    assert found.sentence == "at_most_one_primary does not hold: there are 2 (revision 12, 3.0 s)"
    findings, _ = judge_reference(CASE, broken)
    assert [found.verdict for found in findings] == ["INCONCLUSIVE"]
