"""Hunting for differences: sequences without end, until there have been enough operations, and enough of each sort."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from .coverage import ENOUGH
from .machine import Field, converse
from .session import Different, Session

EXAMPLES, STEPS = 12, 30
"""Sequences of one round, and steps of a sequence."""


@dataclass
class Findings:
    """What has been found, one of each sort with its sequence, and how often."""

    count: Counter[str] = field(default_factory=Counter)
    first: dict[str, tuple[list[str], Different]] = field(default_factory=dict)

    def __call__(self, session: Session, different: Different) -> None:
        """Takes note of one."""
        kind = different.step.path
        name = f"{different.step.what} {kind.split('/NS/')[-1].split('?')[0]}: {', '.join(dict.fromkeys(each.where for each in different.found))}"
        self.count[name] += 1
        if name not in self.first or len(self.first[name][0]) > len(session.steps):
            self.first[name] = ([str(step) for step in session.steps], different)

    def report(self, *, steps: int = 6) -> str:
        """Everything, the most frequent first."""
        lines = []
        for name, count in self.count.most_common():
            told, different = self.first[name]
            lines += [
                f"== {count} x {name}",
                *(f"   . {step[:700]}" for step in told[-steps:]),
                *(f"   {each}" for each in different.found[:6]),
                "",
            ]
        return "\n".join(lines)


def hunt(
    common: Field,
    *,
    operations: int,
    seed: int,
    enough: int = ENOUGH,
    say: Callable[[str], None] = print,
    shrink: bool = True,
    sorts: tuple[str, ...] = (),
) -> None:
    """Goes on until so many operations are done and every cell has `enough` successes. Raises `Different`, shrunk."""
    round_, began = 0, time.monotonic()
    while common.coverage.asked < operations or not common.coverage.is_full(enough):
        sort = sorts[round_ % len(sorts)] if sorts else common.coverage.neediest(enough)
        converse(common, sort, seed=seed * 100_003 + round_, examples=EXAMPLES, steps=STEPS, shrink=shrink)
        round_ += 1
        if round_ % 10 == 0:
            spent = time.monotonic() - began
            say(f"{common.coverage.asked} operations in {spent:.0f} s")
        if sorts and common.coverage.asked >= operations:
            return


def dumped(session: Session) -> str:
    """A sequence as JSON."""
    return json.dumps([step.plain() for step in session.steps], indent=1)
