"""O6: nothing is destroyed that the truth gave no reason to. O5: what comes and goes against the reference."""

from __future__ import annotations

import msgspec
import pytest
from tests.levelcheck.oracles.build import CASE, Tape, key, obj

from setpoint.levelcheck import Assumptions, Workload
from setpoint.levelcheck.case import Case
from setpoint.levelcheck.oracles.justified import destruction, not_renewed, suspects
from setpoint.levelcheck.plan import Decision, Plan, Site
from setpoint.levelcheck.recording import Delivered, Read, Recording


def _db(number: int = 2, replicas: int = 3) -> dict[str, object]:
    return obj("statefulsets.apps default/db", number, spec={"replicas": replicas})


def _plan(*faults: str) -> Plan:
    return Plan(tuple(Decision(fault, Site("rest")) for fault in faults))


def _reference() -> Recording:
    tape = Tape()
    tape.put(obj("shops.example.com default/web", 1), by="user")
    tape.begin()
    tape.put(_db())
    tape.end()
    tape.rest()
    return tape.recording()


def _deleting(
    *faults: str, stale: int = 3, live: bool = False, missed_by: str = "p1", refused: bool = False, read: bool = True
) -> Recording:
    """What p1 has made, p2 deletes, and makes again. A read is out of date by so many revisions, of which the last is of the user or p1."""
    tape = Tape()
    tape.put(obj("shops.example.com default/web", 1), by="user")
    tape.begin()
    tape.put(_db())
    tape.put(obj("shops.example.com default/web", 1, status={"size": 1}), by=missed_by if missed_by != "p1" else "")
    tape.end()
    tape.start("p2")
    tape.begin()
    if read:
        tape.read("shops.example.com default/web", stale=stale)
    if live:
        tape.read("shops.example.com default/web", live=True)
    if refused:
        tape.refused("statefulsets.apps default/db", "delete")
    else:
        tape.drop("statefulsets.apps default/db", line="shop.py:30")
        tape.put(_db(9))
    tape.end()
    tape.rest()
    return msgspec.structs.replace(tape.recording(), plan=_plan(*faults))


def test_a_deletion_decided_on_what_is_long_over_is_a_finding() -> None:
    (found,) = destruction(CASE, _reference(), _deleting("F6"))
    assert (found.oracle, found.resource, found.role, found.verb, found.line) == (
        "O6",
        "statefulsets.apps",
        "default/db",
        "delete",
        "shop.py:30",
    )
    assert found.sentence == (
        "statefulsets default/db is deleted (shop.py:30), as it is not without the fault: "
        "decided on shops as of revision 10, when 13 was the newest"
    )


@pytest.mark.parametrize(
    "recording",
    [
        pytest.param(_deleting("F6", stale=0), id="fresh"),
        pytest.param(_deleting("F6", live=True), id="read live before"),
        pytest.param(_deleting("F6", refused=True), id="refused by its precondition"),
        pytest.param(_deleting("F1"), id="a crash changes what is so"),
        pytest.param(_deleting("F5", missed_by="user"), id="the user was a moment ago of that mind"),
    ],
)
def test_a_deletion_that_may_have_been_justified_is_none(recording: Recording) -> None:
    assert destruction(CASE, _reference(), recording) == []


def test_as_many_deletions_as_in_the_reference_are_none() -> None:
    assert suspects(_deleting("F6"), _deleting("F6")) == []


def test_what_is_not_wanted_in_the_end_may_be_deleted() -> None:
    gone = msgspec.structs.replace(_reference(), objects={})
    (suspect,) = suspects(gone, _deleting("F6"))
    assert not suspect.wanted
    assert destruction(CASE, gone, _deleting("F6")) == []


def test_a_suspect_names_its_place_and_the_reads_that_were_out_of_date() -> None:
    (suspect,) = suspects(_reference(), _deleting("F6"))
    assert suspect.site.what == "delete statefulsets.apps default/db"
    assert [(read.resource, read.seen, read.true) for read in suspect.stale] == [("shops.example.com", 10, 13)]
    assert (suspect.wanted, suspect.unread, suspect.outrun) == (True, False, True)


def test_what_is_deleted_without_reading_anything_is_a_matter_of_numbers() -> None:
    (found,) = destruction(CASE, _reference(), _deleting("F9", read=False))
    assert (found.oracle, found.verb) == ("O5", "delete")
    assert destruction(CASE, _reference(), _deleting("F9", "F1", read=False)) == []


def _own_write(*, assumptions: Assumptions) -> list[str]:
    """The read misses what the process itself has written just before, and nothing else."""
    tape = Tape()
    tape.put(obj("shops.example.com default/web", 1), by="user")
    tape.begin()
    tape.put(_db())
    tape.put(obj("shops.example.com default/web", 1, status={"size": 1}))
    tape.end()
    tape.begin()
    tape.read("shops.example.com default/web", stale=1)
    tape.drop("statefulsets.apps default/db")
    tape.put(_db(9))
    tape.end()
    tape.rest()
    recording = msgspec.structs.replace(tape.recording(), plan=_plan("F5"))
    case = Case(target="x:y", workload=Workload(()), assumptions=assumptions)
    return [found.oracle for found in destruction(case, _reference(), recording)]


def test_own_writes_are_seen_unless_it_is_assumed_that_they_are_not() -> None:
    assert _own_write(assumptions=Assumptions()) == []
    assert _own_write(assumptions=Assumptions(own_writes="late")) == ["O6"]


def _scaling(*faults: str, sizes: tuple[int, ...]) -> Recording:
    tape = Tape()
    tape.put(obj("shops.example.com default/web", 1, spec={"size": 1}), by="user")
    tape.put(obj("shops.example.com default/web", 1, spec={"size": 3}), by="user")
    for size in sizes:
        tape.begin()
        tape.read("shops.example.com default/web", stale=0 if size == 3 else tape.revision - 11)
        tape.put(_db(2, size))
        tape.end()
    tape.rest()
    return msgspec.structs.replace(tape.recording(), plan=_plan(*faults))


def test_a_value_that_goes_back_by_a_look_into_the_past_is_a_finding() -> None:
    usual = _scaling(sizes=(1, 3))
    (found,) = destruction(CASE, usual, _scaling("F6", sizes=(1, 3, 1, 3)))
    assert (found.oracle, found.field) == ("O6", ".spec.replicas")
    assert "statefulsets default/db goes back: .spec.replicas from 3 to 1" in found.sentence
    assert destruction(CASE, usual, _scaling("F6", sizes=(1, 3))) == []


def test_a_value_that_follows_late_what_the_user_wanted_is_none() -> None:
    assert destruction(CASE, _scaling(sizes=(1, 3)), _scaling("F5", sizes=(1, 3, 1, 3))) == []


def _restarting(*faults: str, renewed: bool) -> Recording:
    tape = Tape()
    tape.step("apply the shop")
    tape.put(obj("pods default/web-0", 2))
    tape.rest()
    tape.step("change its settings")
    if renewed:
        tape.drop("pods default/web-0")
        tape.put(obj("pods default/web-0", 3))
    tape.rest()
    return msgspec.structs.replace(tape.recording(), plan=_plan(*faults))


def test_what_is_not_replaced_though_it_is_without_the_fault_is_a_finding() -> None:
    """https://github.com/konpyutaika/nifikop/issues/49: the settings were changed, and the pods never restarted."""
    (found,) = not_renewed(_restarting(renewed=True), _restarting("F1", renewed=False))
    assert found.oracle == "O5"
    assert found.sentence == "pods default/web-0 is still the one from before the user's step 2, and is replaced without the fault"


def test_what_is_replaced_or_never_seen_to_have_changed_is_none() -> None:
    assert not_renewed(_restarting(renewed=True), _restarting("F1", renewed=True)) == []
    assert not_renewed(_restarting(renewed=False), _restarting("F1", renewed=True)) == []
    assert not_renewed(_restarting(renewed=True), _restarting("F8", renewed=False)) == []


def test_an_old_list_is_told_by_what_the_cache_was_given() -> None:
    """A list as of long ago is taken in as if it were new: the read looks fresh."""
    recording = _deleting("F6", stale=0)
    decision = Decision("F6", Site("rest"), resource="shops.example.com")
    place = next(place for place, moment in enumerate(recording.moments) if isinstance(moment, Read))
    given = Delivered(at=0.0, process="p2", key=key("shops.example.com default/web"), type="ADDED", revision=11)
    moments = [*recording.moments[:place], given, *recording.moments[place:]]
    old = msgspec.structs.replace(recording, moments=moments, plan=Plan((decision,)))
    assert [found.oracle for found in destruction(CASE, _reference(), old)] == ["O6"]
    new = msgspec.structs.replace(old, moments=[msgspec.structs.replace(m, revision=99) if m is given else m for m in moments])
    assert destruction(CASE, _reference(), new) == []
