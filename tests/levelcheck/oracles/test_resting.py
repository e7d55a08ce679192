"""O2: a run comes to rest."""

from __future__ import annotations

from tests.levelcheck.oracles.build import CASE, Tape, obj

from setpoint.levelcheck.oracles import judge
from setpoint.levelcheck.recording import Recording


def _quiet() -> Recording:
    tape = Tape()
    tape.begin()
    tape.end()
    tape.rest()
    return tape.recording()


def test_what_is_written_for_ever_is_named() -> None:
    tape = Tape()
    for beat in range(5):
        tape.begin()
        tape.put(obj("configmaps default/web", 1, data={"beat": str(beat)}), line="shop.py:7")
        tape.end()
    (found,) = judge(CASE, _quiet(), tape.recording("restless", "configmaps default/web is written again and again"))
    assert found.sentence == "it never comes to rest: configmaps default/web is written again and again (5 times after the last fault)"
    assert (found.oracle, found.resource, found.role, found.line) == ("O2", "configmaps", "default/web", "shop.py:7")


def test_what_fails_for_ever_is_named() -> None:
    tape = Tape()
    for _ in range(5):
        tape.begin()
        tape.end("error", "OSError: the lock is taken")
    found = judge(CASE, _quiet(), tape.recording("restless"))[0]
    assert found.sentence == "it never comes to rest: the run for shop default/web fails again and again: OSError: the lock is taken"


def test_a_rest_after_a_failure_is_none() -> None:
    tape = Tape()
    tape.begin()
    tape.end("error", "TerminalError: given up")
    tape.rest()
    oracles = [found.oracle for found in judge(CASE, _quiet(), tape.recording()) if not found.warning]
    assert oracles == ["O2"]
    assert judge(CASE, tape.recording(), tape.recording()) == []


def test_a_failure_that_the_next_run_heals_is_no_matter() -> None:
    tape = Tape()
    tape.begin()
    tape.end("error", "ServiceUnavailable: later")
    tape.begin()
    tape.end()
    tape.rest()
    assert judge(CASE, _quiet(), tape.recording()) == []


def test_the_last_failure_of_a_process_that_died_is_not_that_of_the_controller() -> None:
    tape = Tape()
    tape.begin()
    tape.end("error", "ServiceUnavailable: later")
    tape.fault()
    tape.die()
    tape.start("p2")
    tape.rest()
    assert judge(CASE, _quiet(), tape.recording()) == []
