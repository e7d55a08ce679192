"""`workqueue_depth` by priority."""

from setpoint.manager.metrics.depth import BEYOND, MOST, Depth


def test_the_two_usual_priorities_are_there_from_the_start() -> None:
    assert Depth().by_label == {"0": 0, "-100": 0}


def test_a_key_that_is_asked_for_at_a_higher_priority_moves_to_its_series() -> None:
    depth = Depth()
    depth.added(-100)
    depth.raised(-100, 7)
    assert depth.by_label == {"0": 0, "-100": 0, "7": 1}
    depth.taken(7)
    assert sum(depth.by_label.values()) == 0


def test_there_are_25_priorities_at_most_and_all_later_ones_share_a_series_without_losing_count() -> None:
    """kubernetes-sigs/controller-runtime#3396."""
    depth = Depth()
    for priority in range(100):
        depth.added(priority)
    assert len(depth.by_label) == MOST + 1
    assert depth.by_label[BEYOND] == 100 - (MOST - 1)
    for priority in range(100):
        depth.taken(priority)
    assert set(depth.by_label.values()) == {0}
