"""How many keys of one queue wait, by priority: the label `priority` of `workqueue_depth`.

Priorities are any numbers, and each is a series. So that they cannot become too many, the first 25 have one of their own and all later ones
share one, as in controller-runtime.
"""

from __future__ import annotations

from setpoint.controller.lanes import LOW_PRIORITY, NORMAL_PRIORITY

MOST = 25
"""So many values of the label."""

BEYOND = "exceeded_cardinality_limit"
"""The label's value for all others."""


class Depth:
    """The counts of one controller. The two priorities that every controller uses are there from the start, at zero."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._labels: dict[int, str] = {}
        for priority in (NORMAL_PRIORITY, LOW_PRIORITY):
            self._count(priority, 0)

    def added(self, priority: int) -> None:
        """One more key waits."""
        self._count(priority, 1)

    def taken(self, priority: int) -> None:
        """One of them does not wait any more."""
        self._count(priority, -1)

    def raised(self, before: int, priority: int) -> None:
        """One of them has another priority now."""
        self._count(before, -1)
        self._count(priority, 1)

    @property
    def by_label(self) -> dict[str, int]:
        """The counts, by the label's value."""
        return dict(self._counts)

    def _count(self, priority: int, change: int) -> None:
        label = self._labels.get(priority)
        if label is None:
            if len(self._labels) < MOST:
                label = self._labels[priority] = str(priority)
            else:
                label = BEYOND  # not remembered: what comes without end must not fill the memory
        self._counts[label] = self._counts.get(label, 0) + change
