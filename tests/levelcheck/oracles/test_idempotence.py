"""O4 and O3: asked again at rest, a controller has nothing to do, and goes on to have nothing to do."""

from __future__ import annotations

from tests.levelcheck.oracles.build import CASE, Tape, obj

from setpoint.levelcheck.oracles import NO_MASKS, Mask, Masks, judge, judge_reference
from setpoint.levelcheck.oracles.idempotence import idempotence


def _web(stamp: str, **fields: object) -> dict[str, object]:
    return obj("configmaps default/web", 1, data={"seen": stamp, **fields})


def _rested() -> Tape:
    tape = Tape()
    tape.step()
    tape.begin()
    tape.put(_web("2026-01-01T00:00:00Z"))
    tape.end()
    tape.rest()
    return tape


def test_an_effective_write_when_asked_again_is_a_finding_even_if_only_a_time_differs() -> None:
    tape = _rested()
    tape.begin()
    tape.put(_web("2026-01-01T00:01:00Z"), line="shop.py:9")
    tape.end()
    tape.rest()
    findings, _ = judge_reference(CASE, tape.recording())
    (found,) = [found for found in findings if not found.warning]
    assert found.sentence == (
        "asked again, with nothing to do, it writes configmaps default/web (shop.py:9): "
        ".data.seen was 2026-01-01T00:00:00Z, and becomes 2026-01-01T00:01:00Z"
    )
    assert (found.oracle, found.field, found.line) == ("O4", ".data.seen", "shop.py:9")


def test_what_the_user_calls_periodic_may_be_written() -> None:
    tape = _rested()
    tape.begin()
    tape.put(_web("2026-01-01T00:01:00Z"))
    tape.end()
    masks = Masks((Mask("configmaps", ".data.seen", "a heartbeat"),))
    assert idempotence(tape.recording(), masks) == []
    tape.put(_web("2026-01-01T00:01:00Z", more="x"))
    assert idempotence(tape.recording(), masks) != []


def test_a_write_that_changes_nothing_is_a_warning_with_their_number() -> None:
    tape = _rested()
    tape.begin()
    tape.idle("configmaps default/web", line="shop.py:9")
    tape.idle("configmaps default/web", line="shop.py:9")
    tape.end()
    tape.rest()
    (found,) = idempotence(tape.recording(), NO_MASKS)
    assert found.warning
    assert found.sentence == "asked again, with nothing to do, it writes configmaps default/web as it is (2 such writes, shop.py:9)"


def test_a_call_that_changes_the_outside_is_a_finding_and_one_that_does_not_is_none() -> None:
    tape = _rested()
    tape.outside = {"cloud": {}}
    tape.begin()
    tape.call("Cloud.ensure", changed=False)
    assert idempotence(tape.recording(), NO_MASKS) == []
    tape.call("Cloud.create")
    assert [found.role for found in idempotence(tape.recording(), NO_MASKS)] == ["Cloud.create"]


def test_of_a_fake_that_tells_no_state_nobody_knows() -> None:
    tape = _rested()
    tape.begin()
    tape.call("Cloud.ensure")
    assert idempotence(tape.recording(), NO_MASKS) == []


def test_a_run_that_follows_by_itself_and_writes_is_not_stable() -> None:
    tape = _rested()
    tape.begin()
    tape.end()
    tape.begin()
    tape.put(_web("later"))
    tape.end()
    assert [found.oracle for found in idempotence(tape.recording(), NO_MASKS)] == ["O3"]


def test_what_is_done_about_a_step_of_the_user_is_none_of_these() -> None:
    tape = _rested()
    tape.step()
    tape.begin()
    tape.put(_web("later"))
    tape.end()
    assert idempotence(tape.recording("restless"), NO_MASKS) == []


def test_what_the_reference_does_as_well_is_not_told_of_every_run() -> None:
    tape = _rested()
    tape.begin()
    tape.put(_web("2026-01-01T00:01:00Z"))
    tape.end()
    assert judge(CASE, tape.recording(), tape.recording()) == []
