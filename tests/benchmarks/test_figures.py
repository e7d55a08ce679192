"""Medians, ratios, and whether a goal is met."""

from __future__ import annotations

import pytest
from benchmarks.figures import Goal, Spread, as_ratio, number


def test_a_spread_is_the_median_of_all_rounds_with_the_smallest_and_the_largest() -> None:
    assert Spread.of([5.0, 1.0, 2.0, 9.0, 3.0]) == Spread(3.0, 1.0, 9.0)


def test_there_is_no_spread_of_nothing() -> None:
    with pytest.raises(ValueError, match="no figure"):
        Spread.of([])


@pytest.mark.parametrize(
    ("goal", "ours", "peer", "met"),
    [
        (Goal("ratio", 1 / 20), 20.0, 431.0, True),
        (Goal("ratio", 1 / 20), 22.0, 431.0, False),
        (Goal("ratio", 1.25, at_least=True), 125.0, 100.0, True),
        (Goal("ratio", 1.25, at_least=True), 124.0, 100.0, False),
        (Goal("difference", 0.5), 1.4, 1.0, True),
        (Goal("difference", 0.5), -0.2, 1.0, True),
        (Goal("difference", 0.5), 1.6, 1.0, False),
        (Goal("value", 300), 300.0, None, True),
        (Goal("value", 300), 301.0, 1000.0, False),
        (Goal("value", 0), 0.0, None, True),
    ],
)
def test_a_goal_is_met_on_its_own_side_of_its_bound(goal: Goal, ours: float, peer: float | None, met: bool) -> None:
    assert goal.is_met(ours, peer) is met


def test_nothing_is_said_of_a_goal_whose_peer_is_not_there() -> None:
    assert Goal("ratio", 0.5).is_met(1.0, None) is None
    assert Goal("difference", 0.5).is_met(1.0, None) is None
    assert Goal("ratio", 0.5).is_met(1.0, 0.0) is None


def test_goals_and_ratios_are_said_as_people_say_them() -> None:
    assert str(Goal("ratio", 1 / 20)) == "≤ 1/20"
    assert str(Goal("ratio", 1.25, at_least=True)) == "≥ 1.25"
    assert str(Goal("difference", 3.0)) == "≤ +3"
    assert str(Goal("value", 100_000, at_least=True)) == "≥ 100,000"
    assert as_ratio(0.04) == "1/25"
    assert number(12345.6) == "12,346"
    assert number(1.2345) == "1.23"
