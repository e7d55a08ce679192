"""`Report`: what a check came to."""

from __future__ import annotations

from dataclasses import dataclass, field

from setpoint.levelcheck.case import Case
from setpoint.levelcheck.finding import Finding, Refutation, Verdict
from setpoint.levelcheck.recording import Recording


@dataclass(frozen=True, kw_only=True)
class Covered:
    """One fault class: how many plans of it were run, how many were not and why (`cuts`: reason to number)."""

    fault: str
    name: str
    tried: int
    cuts: dict[str, int] = field(default_factory=dict)
    skipped: str = ""
    """Why none was tried, such as an assumption that rules it out; or empty."""


@dataclass(frozen=True, kw_only=True)
class Broken:
    """A refutation with the recording of its plan, and what was found out by running neighbours of that plan.

    `reference` is the recording it is compared with. `why` are sentences: what the finding needs, and what does away with it.
    """

    refutation: Refutation
    recording: Recording
    reference: Recording
    token: str
    why: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Report:
    """What was checked, how far, and what came of it. `verdict` is never told without `bound`."""

    case: Case
    name: str
    """What was checked, as the user named it."""
    verdict: Verdict
    depth: int
    bound: str
    """What HELD means here, in a sentence: for which workload, which faults, how many runs."""
    broken: tuple[Broken, ...] = ()
    warnings: tuple[Finding, ...] = ()
    waived: tuple[tuple[str, int], ...] = ()
    """Reasons of waivers, and how often each applied; 0 says that it is of no use any more."""
    coverage: tuple[Covered, ...] = ()
    reference: Recording | None = None
    runs: int = 0
    seconds: float = 0.0
    """CPU seconds."""
    seeds: tuple[int, ...] = ()
    inconclusive: str = ""
    """Why nothing can be said, or empty."""
    notes: tuple[str, ...] = ()
    """What was not checked: kinds without a stand-in, timers that were not waited for, a budget that ran out."""
