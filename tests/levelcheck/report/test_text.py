"""Reports in words: what they say, and in which order."""

from __future__ import annotations

import re

import pytest

from setpoint.levelcheck.finding import Finding
from setpoint.levelcheck.outcome import Broken
from setpoint.levelcheck.report.text import headline, in_words
from setpoint.levelcheck.report.trace import SHORT, trace

from .stories import duplicated, report_of, resized, stamped

STORIES = [resized(), duplicated(), stamped()]


def trace_of(text: str) -> str:
    return text[text.index("Trace") : text.index("Why")]


def test_the_verdict_comes_first_in_words_of_the_domain_and_with_what_replays_it() -> None:
    first, second, *_ = in_words(report_of(resized())).splitlines()
    assert first == "REFUTED, crash-unsafe: claim default/data-db-0 stays at 10Gi for ever"
    assert second.strip().startswith("setpoint check cluster.py --replay lc1,")


def test_the_order_is_verdict_trace_difference_why_suggestion_coverage_assumptions_and_what_was_not_checked() -> None:
    text = in_words(report_of(resized()))
    places = [
        text.index(each) for each in ("REFUTED", "Trace", "Difference", "Why", "Suggestion", "Covered", "Bound", "Assumed", "Not checked")
    ]
    assert places == sorted(places)


@pytest.mark.parametrize("broken", STORIES)
def test_a_trace_is_short_and_has_its_decisions_and_the_finding(broken: Broken) -> None:
    told = trace(broken)
    assert len(told.rows) <= SHORT
    assert [row.mark for row in told.rows].count("decision") == len(broken.refutation.plan.decisions)
    assert told.rows[-1].mark == "finding"
    assert [row.at for row in told.rows] == sorted(row.at for row in told.rows)


def test_decisions_are_never_cut_out_of_a_trace() -> None:
    assert [row.mark for row in trace(resized(), limit=1).rows if row.mark] == ["decision", "start", "finding"]


def test_a_crash_is_told_with_the_write_before_it_and_what_the_next_process_does() -> None:
    text = trace_of(in_words(report_of(resized()), 220))
    assert re.search(r"delete statefulsets/db +cluster.py:24.*gone \(v15\)", text)
    assert "** the process dies just after `delete statefulsets.apps default/db`, and is back 5 s later (decision 1 of 1)" in text
    assert "p2 starts anew, with an empty memory" in text
    assert re.search(r"create statefulsets/db +cluster.py:31", text[text.index("p2 starts anew") :])
    assert "finds nothing to do" in text


def test_a_change_that_never_comes_is_told() -> None:
    assert "In the reference, persistentvolumeclaims/data-db-0 is changed next (v16); here it never is." in in_words(report_of(resized()))


def test_a_stale_read_says_what_was_true() -> None:
    assert "read v11 (true: v12)" in trace_of(in_words(report_of(duplicated()), 160))


def test_the_first_divergence_is_marked_at_the_change_that_the_reference_does_not_have() -> None:
    (row,) = [row for row in trace(duplicated()).rows if row.mark == "divergence"]
    assert row.key is not None
    assert row.key.name == "web-q9m4t"


def test_what_goes_round_and_round_is_counted() -> None:
    text = trace_of(in_words(report_of(stamped())))
    assert "39 times" in re.sub(r"\s+", " ", text)
    assert text.count("patch webapps/shop") == 2


def test_the_lines_of_the_read_and_of_the_write_are_named() -> None:
    text = in_words(report_of(duplicated()))
    assert "read: pods (list), v11 where v12 was true at pool.py:14" in text
    assert "written: create pods default/web-q9m4t at pool.py:18" in text


def test_expected_and_found_are_told_with_their_place() -> None:
    text = in_words(report_of(resized()))
    assert "persistentvolumeclaims data-db-0 .spec.resources.requests.storage\n    expected  15Gi\n    found     10Gi" in text


def test_held_is_never_told_without_its_bound() -> None:
    report = report_of()
    assert headline(report) == f"HELD: cluster.py is level-based {report.bound}"
    assert "proved" not in in_words(report)


def test_inconclusive_says_why() -> None:
    report = report_of(verdict="INCONCLUSIVE", inconclusive="two runs without faults end differently")
    assert in_words(report).startswith("INCONCLUSIVE: two runs without faults end differently")


def test_coverage_says_what_was_tried_cut_and_skipped_and_why() -> None:
    text = in_words(report_of())
    assert re.search(r"F1 +crash at a write +12 +3 left out: the write changed nothing", text)
    assert re.search(r"F6 +old list after a restart +- +skipped: lists are consistent here", text)
    assert "Assumed: lists may come from an old cache of the server" in text
    assert "claims are not grown by anybody but the controller" in text


def test_waivers_that_are_of_no_use_are_told_of() -> None:
    text = in_words(report_of(waived=(("volumes are kept", 2), ("old", 0))))
    assert "waiver (volumes are kept): applied 2 times" in text
    assert "waiver (old): of no use any more" in text


def test_warnings_are_told_and_refute_nothing() -> None:
    text = in_words(report_of(warnings=(Finding(oracle="O15", sentence="secrets are read and not watched", line="a.py:3", warning=True),)))
    assert text.startswith("HELD")
    assert "warning: secrets are read and not watched (a.py:3)" in text


def test_what_came_of_a_write_stands_in_its_line_also_where_the_heading_is_broken() -> None:
    lines = trace_of(in_words(report_of(resized()), 90)).splitlines()
    (deletion,) = [line for line in lines if re.search(r"\bdelete\b", line) and "**" not in line]
    assert "gone (v15)" in deletion


def test_many_refutations_are_told_in_a_line_each_after_the_first_three() -> None:
    text = in_words(report_of(resized(), duplicated(), stamped(), resized()))
    assert text.count("Trace ") == 3
    assert "Also: claim default/data-db-0 stays at 10Gi" in text


@pytest.mark.parametrize("width", [80, 100, 120, 200])
@pytest.mark.parametrize("broken", STORIES)
def test_no_line_of_a_trace_is_wider_than_the_terminal(broken: Broken, width: int) -> None:
    assert max(map(len, trace_of(in_words(report_of(broken), width)).splitlines())) <= width
