"""Hunting for differences: sequences without end, until there have been enough operations, and enough of each sort."""

from __future__ import annotations

import hashlib
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from .coverage import ENOUGH
from .golden import keep, record
from .machine import Field, converse
from .reduce import reduced, signature
from .session import Different, Session
from .steps import Step

EXAMPLES, STEPS = 16, 40
"""Sequences of one round, and steps of a sequence."""


@dataclass
class Findings:
    """What has been found, one of each sort with its shortest sequence, and how often."""

    count: Counter[str] = field(default_factory=Counter)
    first: dict[str, tuple[list[Step], Different]] = field(default_factory=dict)

    def __call__(self, session: Session, different: Different) -> None:
        """Takes note of one."""
        name = f"{_about(different.step)} {signature(different)}"
        self.count[name] += 1
        if name not in self.first or len(self.first[name][0]) > len(session.steps):
            self.first[name] = (list(session.steps), different)

    def report(self, *, steps: int = 6) -> str:
        """Everything, the most frequent first."""
        lines = []
        for name, count in self.count.most_common():
            told, different = self.first[name]
            lines += [
                f"== {count} x {name}",
                *(f"   . {str(step)[:700]}" for step in told[-steps:]),
                *(f"   {each}" for each in different.found[:6]),
                "",
            ]
        return "\n".join(lines)

    def keep(self, common: Field) -> list[Path]:
        """Makes each as small as it can be, and keeps it as a golden."""
        kept = []
        for name, (steps, different) in self.first.items():
            few = reduced(common.sides, steps)
            if few:
                label = re.sub(r"[^a-z0-9]+", "-", f"{_about(different.step)}-{different.step.what}".lower()).strip("-")
                number = hashlib.sha256(name.encode()).hexdigest()[:6]
                kept.append(keep(record(f"{label}-{number}", few, common.real, common.namespace())))
        return kept


def _about(step: Step) -> str:
    return step.about.partition("/")[0] or step.path.rpartition("/")[2]


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
