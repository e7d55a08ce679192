"""Findings: what an oracle has against a run."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from setpoint.levelcheck.plan import Plan

Verdict: TypeAlias = Literal["HELD", "REFUTED", "PATH-DEPENDENT", "INCONCLUSIVE"]


class Finding(msgspec.Struct, frozen=True):
    """Something that should not be. `sentence` says it in the words of the domain: `claim default/data-0 stays at 10Gi for ever`.

    `resource`, `role` (the name, or what stands for a generated one) and `field` say where; `verb` and `line` which write did it, where one
    did. `expected` and `found` are values as text. A `warning` is told, and refutes nothing.
    """

    oracle: str
    sentence: str
    resource: str = ""
    role: str = ""
    field: str = ""
    verb: str = ""
    line: str = ""
    expected: str = ""
    found: str = ""
    at: float = 0.0
    revision: int = 0
    warning: bool = False
    verdict: Verdict = "REFUTED"

    @property
    def signature(self) -> tuple[str, ...]:
        """Equal for findings of one cause, as far as one can tell from outside."""
        return (self.oracle, self.resource, self.role, self.field, self.verb, self.line)


class Refutation(msgspec.Struct, frozen=True):
    """A plan under which something is found: the first of them is what is told, the others are `beside`.

    `others` counts more plans with that finding, `also` are the fault classes of those.
    """

    plan: Plan
    finding: Finding
    beside: tuple[Finding, ...] = ()
    others: int = 0
    also: tuple[str, ...] = ()
