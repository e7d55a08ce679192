"""A check as a whole: its verdicts where something unusual happens, and what a token tells again."""

import pytest
from tests.levelcheck.boxes import box, workload
from tests.levelcheck.corpus.checked import row, target

from setpoint.levelcheck import Workload, apply, level_check, replay, wait
from setpoint.levelcheck.recording import Stepped
from setpoint.levelcheck.report.text import in_words

BOXES = "tests.levelcheck.boxes:controller"


def test_a_program_that_does_not_start_again_after_a_crash_is_refuted():
    report = level_check("tests.levelcheck.never_again:app", workload)
    assert report.verdict == "REFUTED"
    assert any("RuntimeError: somebody was here before" in broken.refutation.finding.sentence for broken in report.broken)
    assert any(broken.recording.why.startswith("the program ends by itself, again and again") for broken in report.broken)


def test_an_invariant_that_raises_makes_the_check_inconclusive_and_is_named():
    def at_most_one(state):
        return state.outside["nowhere"]

    report = level_check(BOXES, workload, invariants=[at_most_one], depth=0)
    assert (report.verdict, report.inconclusive) == ("INCONCLUSIVE", "the invariant at_most_one raises KeyError: 'nowhere'")


def test_a_role_that_raises_makes_the_check_inconclusive_and_is_named():
    def role(obj):
        raise LookupError("no such role")

    report = level_check(BOXES, workload, roles={"configmaps": role}, depth=0)
    assert (report.verdict, report.inconclusive) == ("INCONCLUSIVE", "the role of configmaps raises LookupError: no such role")


@pytest.mark.parametrize("name", ["g01_new_time_every_pass", "a09_no_shrink_guard", "b11_children_by_status"])
def test_a_token_tells_again_what_the_report_told(name):
    """Without a fault, of the path alone, and of a crash."""
    of = row("rows", name)
    declared = {"outside": of.outside, "roles": of.roles, "invariants": of.invariants}
    report = level_check(target("rows", name, "buggy"), of.workload, **declared)
    told = report.broken[0]
    again = replay(target("rows", name, "buggy"), of.workload, token=told.token, **declared)
    assert again is not None
    assert again.refutation.finding.signature == told.refutation.finding.signature
    assert again.refutation.finding.verdict == told.refutation.finding.verdict
    assert replay(target("rows", name, "fixed"), of.workload, token=told.token, **declared) is None


def test_progress_is_told_with_every_run():
    heard = []
    report = level_check(BOXES, workload, progress=lambda *told: heard.append(told))
    done = [each[0] for each in heard]
    assert done == sorted(done)
    assert len(set(done)) > 0.7 * report.runs  # the first stages tell of several at once
    assert all(count <= of for count, of, _ in heard if of)


def test_what_is_found_under_other_faults_too_is_said():
    of = row("rows", "b10_exists_is_failure")
    report = level_check(target("rows", "b10_exists_is_failure", "buggy"), of.workload, outside=of.outside)
    found = next(each.refutation for each in report.broken if each.refutation.finding.oracle == "O1")
    assert found.others > 0
    assert set(found.also) & {"F1", "F3", "F20"}


def test_where_the_way_there_is_to_blame_the_way_is_what_the_trace_tells():
    of = row("rows", "h01_removed_keys_stay")
    report = level_check(target("rows", "h01_removed_keys_stay", "buggy"), of.workload)
    broken = next(each for each in report.broken if each.refutation.plan.variant == "direct")
    assert broken.recording.plan.variant == ""
    assert broken.reference.plan.variant == "direct"
    steps = [moment.step for moment in broken.recording.moments if isinstance(moment, Stepped)]
    assert len(steps) > len([moment for moment in broken.reference.moments if isinstance(moment, Stepped)])


def test_a_workload_that_the_server_refuses_is_told_in_a_sentence():
    wrong = Workload.of(apply({**box(1), "spec": {"size": "many"}}), wait())
    text = in_words(level_check(BOXES, wrong))
    assert text.startswith("INCONCLUSIVE: the server refuses a step of the workload, apply Box default/a")
    assert "Covered" not in text
