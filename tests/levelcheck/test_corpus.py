"""The corpus: published bugs are found, and their corrected twins, and correct controllers of other styles, are not accused.

Some rows of each mechanism, unless SETPOINT_CORPUS=all is set: all of them take some ten minutes.
"""

import os

import pytest
from tests.levelcheck.corpus.checked import HERE, check, expected, folders, row

FIRST = (
    "a01_",
    "a09_",
    "a21_",
    "b03_",
    "b11_",
    "c02_",
    "d01_",
    "e01_",
    "g01_new",
    "h01_",
    "g03_finalizer",
    "g07_leader",
    "a_module",
    "e_background",
    "f_finally",
)
"""Each teaches a different mechanism."""
CHOSEN = [each for each in folders() if os.environ.get("SETPOINT_CORPUS") == "all" or each[1].startswith(FIRST)]
NAMES = [f"{group}-{name}" for group, name in CHOSEN]


@pytest.mark.parametrize(("group", "name"), [each for each in CHOSEN if (HERE / each[0] / each[1] / "buggy.py").exists()])
def test_the_bug_is_found(group, name):
    of, report = row(group, name), check(group, name, "buggy")
    assert report.verdict in ("REFUTED", "PATH-DEPENDENT"), report.inconclusive
    assert expected(of, report), [(str(each.refutation.plan), each.refutation.finding.sentence) for each in report.broken]


@pytest.mark.parametrize(("group", "name"), CHOSEN, ids=NAMES)
def test_the_correct_one_is_not_accused(group, name):
    report = check(group, name, "fixed")
    told = [(str(each.refutation.plan), each.refutation.finding.sentence) for each in report.broken]
    assert (report.verdict, report.inconclusive, told) == ("HELD", "", [])
