"""How often the real server has said yes: per verb and sort of patch, and class of kind."""

from __future__ import annotations

from collections import Counter

from .kinds import SORTS, VERBS_OF
from .steps import Step

ENOUGH = 200
"""Successful answers that each cell must have."""

VERBS = (
    "create", "get", "list", "watch", "update", "patch json", "patch merge", "patch strategic", "patch apply", "delete", "deletecollection",
    "status get", "status update", "status json", "status merge", "status strategic", "status apply",
    "scale get", "scale update", "scale json", "scale merge", "scale apply",
)  # fmt: skip


class Coverage:
    """Counts of steps."""

    def __init__(self) -> None:
        self.succeeded: Counter[tuple[str, str]] = Counter()
        self.asked = 0
        self.waived: Counter[str] = Counter()

    def count(self, step: Step, ok: bool) -> None:
        """One more answer."""
        self.asked += 1
        if ok:
            self.succeeded[step.what, step.sort] += 1

    def lacking(self, sort: str, enough: int = ENOUGH) -> dict[str, int]:
        """How many of each verb a class of kind still lacks."""
        return {verb: max(0, enough - self.succeeded[verb, sort]) for verb in VERBS_OF[sort]}

    def neediest(self, enough: int = ENOUGH) -> str:
        """The class of kind that lacks most."""
        return max(
            SORTS, key=lambda sort: (sum(self.lacking(sort, enough).values()), -sum(self.succeeded[v, sort] for v in VERBS_OF[sort]))
        )

    def is_full(self, enough: int = ENOUGH) -> bool:
        """Whether every cell has enough."""
        return all(not any(self.lacking(sort, enough).values()) for sort in SORTS)

    def table(self) -> str:
        """All counts, a verb a line."""
        lines = ["successful answers of the real server".ljust(18)]
        lines.append(" ".join(["".ljust(18), *(sort.rjust(11) for sort in SORTS)]))
        for verb in VERBS:
            cells = [str(self.succeeded[verb, sort]) if verb in VERBS_OF[sort] else "-" for sort in SORTS]
            lines.append(" ".join([verb.ljust(18), *(cell.rjust(11) for cell in cells)]))
        return "\n".join(lines)
