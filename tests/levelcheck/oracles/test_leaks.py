"""O8: nothing is left over."""

from __future__ import annotations

from tests.levelcheck.oracles.build import CASE, Tape, ended, obj

from setpoint.levelcheck.oracles import judge_reference
from setpoint.levelcheck.oracles.leaks import leaks
from setpoint.levelcheck.recording import Recording


def _web() -> dict[str, object]:
    return obj("shops.example.com default/web", 1)


def test_a_child_whose_owner_is_gone_is_left_over() -> None:
    child = obj("configmaps default/web", 2, owner=_web())
    (found,) = leaks(ended(), ended(child))
    assert (found.oracle, found.sentence) == ("O8", "configmaps default/web is left over: its owner, shop web, is gone")
    assert leaks(ended(child), ended(child)) == []
    assert leaks(ended(), ended(_web(), child)) == []


def _finalized(by: str) -> Recording:
    tape = Tape()
    tape.put(_web(), by="user")
    held = obj("shops.example.com default/web", 1, metadata={"finalizers": ["example.com/hold"]})
    tape.put(held, by=by)
    tape.put({**held, "metadata": {**held["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}, by="user")
    tape.rest()
    return tape.recording()


def test_what_waits_for_the_controllers_own_finalizer_is_left_over() -> None:
    (found,) = leaks(ended(), _finalized(by=""))
    assert found.sentence == "shops default/web is being deleted for ever: the controller does not remove its finalizer example.com/hold"
    findings, _ = judge_reference(CASE, _finalized(by=""))
    assert [found.oracle for found in findings if not found.warning] == ["O8"]


def test_what_waits_for_somebody_else_is_none_of_the_controllers_business() -> None:
    assert leaks(ended(), _finalized(by="user")) == []


def _made_for(*, user_deletes: bool) -> Recording:
    tape = Tape()
    tape.put(_web(), by="user")
    tape.begin("shop", "default/web")
    tape.put(obj("secrets default/web-key", 2), line="shop.py:5")
    tape.end()
    if user_deletes:
        tape.drop("shops.example.com default/web", by="user")
    tape.rest()
    return tape.recording(primaries={"shop": "shops.example.com"})


def test_what_was_made_for_something_that_is_gone_is_left_over_if_the_reference_has_it_not() -> None:
    (found,) = leaks(ended(), _made_for(user_deletes=True))
    assert found.sentence == "secrets default/web-key is left over: shops default/web, for which it was made, is gone"
    assert found.line == "shop.py:5"
    kept = _made_for(user_deletes=True)
    assert leaks(kept, kept) == []
    assert leaks(ended(), _made_for(user_deletes=False)) == []


def test_what_the_reference_keeps_may_be_kept_on_purpose() -> None:
    findings, _ = judge_reference(CASE, _made_for(user_deletes=True))
    assert [found.warning for found in findings] == [True]


def test_of_a_run_that_goes_on_nothing_is_said() -> None:
    child = obj("configmaps default/web", 2, owner=_web())
    assert leaks(ended(), ended(child, end="restless")) == []
