"""`Tally`: what a check has tried, what it has left out, and what it has found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial

import msgspec

from setpoint.levelcheck.case import Case
from setpoint.levelcheck.faults import NAMES, rank
from setpoint.levelcheck.finding import Finding, Refutation, Verdict
from setpoint.levelcheck.oracles import waived
from setpoint.levelcheck.outcome import Covered
from setpoint.levelcheck.plan import Plan


class Tally:
    """Counts, by fault class. `refuted` are the plans under which something is wrong, in the order in which they were run."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._tried: Counter[str] = Counter()
        self._cuts: dict[str, Counter[str]] = {}
        self._skipped: dict[str, str] = {}
        self._warnings: dict[tuple[str, ...], Finding] = {}
        self._waived: Counter[str] = Counter()
        self.refuted: list[Refutation] = []

    # what is run, and what is not

    def tried(self, fault: str, number: int = 1) -> None:
        """So many plans of a class are run."""
        self._tried[fault] += number

    def cut(self, fault: str, why: str, number: int = 1) -> None:
        """So many are not."""
        self._cuts.setdefault(fault, Counter())[why] += number

    def lost(self, fault: str) -> None:
        """One that was counted was not run: the run that it was to happen in did not come there."""
        self.tried(fault, -1)
        self.cut(fault, "its place was not reached again")

    def leaves_out(self, cuts: dict[str, Counter[str]], skipped: dict[str, str]) -> None:
        """All that is left out from the beginning: `cuts` by class and reason, how many; `skipped` classes, and why."""
        self._skipped.update(skipped)
        for fault, reasons in cuts.items():
            for why, number in reasons.items():
                self.cut(fault, why, number)

    @property
    def coverage(self) -> tuple[Covered, ...]:
        """By class, in the order in which they are told."""
        pairs = [(fault, " and ".join(NAMES.get(each, each) for each in fault.split("x"))) for fault in self._tried if "x" in fault]
        return tuple(
            Covered(
                fault=fault,
                name=name,
                tried=self._tried[fault],
                cuts=dict(self._cuts.get(fault, {})),
                skipped=self._skipped.get(fault, ""),
            )
            for fault, name in [*NAMES.items(), *sorted(pairs)]
        )

    # what is found

    def take(self, plan: Plan, findings: Iterable[Finding]) -> None:
        """What is wrong under a plan. What is waived, or only warned of, refutes nothing."""
        kept = []
        for finding in map(partial(_as_path, plan), findings):
            if _is_history(plan, finding):
                continue
            waiver = waived(finding, self._case)
            if waiver is not None:
                self._waived[waiver.reason] += 1
            elif finding.warning:
                self._warnings.setdefault(finding.signature, finding)
            else:
                kept.append(finding)
        if kept:
            self.refuted.append(Refutation(plan, kept[0], tuple(kept[1:])))

    @property
    def verdict(self) -> Verdict:
        """The worst that was found."""
        verdicts = {finding.verdict for each in self.refuted for finding in (each.finding, *each.beside)}
        worst: tuple[Verdict, ...] = ("REFUTED", "PATH-DEPENDENT", "INCONCLUSIVE")
        return next((verdict for verdict in worst if verdict in verdicts), "HELD")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Each once."""
        return tuple(self._warnings.values())

    @property
    def waived(self) -> tuple[tuple[str, int], ...]:
        """The reasons of all waivers, and how often each applied."""
        return tuple((waiver.reason, self._waived[waiver.reason]) for waiver in self._case.waivers)

    @property
    def plainest(self) -> Sequence[Refutation]:
        """One refutation of each signature, under the plainest plan that has it."""
        alike: dict[tuple[str, ...], list[Refutation]] = {}
        for each in sorted(self.refuted, key=_plainness):
            alike.setdefault(each.finding.signature, []).append(each)
        found = []
        for first, *rest in alike.values():
            also = dict.fromkeys(decision.fault for each in rest for decision in each.plan.decisions)
            found.append(msgspec.structs.replace(first, others=len(rest), also=tuple(also)))
        return found


def of_path(finding: Finding) -> Finding:
    """The finding as one of path dependence (O12)."""
    return msgspec.structs.replace(finding, oracle="O12", verdict="PATH-DEPENDENT")


def _as_path(plan: Plan, finding: Finding) -> Finding:
    """Another end, after the user has gone on before the controller has seen everything, is path dependence."""
    if finding.oracle == "O1" and (plan.variant == "hasty" or any(decision.changes_history for decision in plan.decisions)):
        return of_path(finding)
    return finding


def _is_history(plan: Plan, finding: Finding) -> bool:
    """What is missing after an early deletion may be what only a later one leaves behind, such as claims that are kept."""
    return plan.variant.startswith(("undone:", "cut:")) and finding.oracle in ("O1", "O5") and finding.found in ("0", "absent")


def _plainness(each: Refutation) -> tuple[object, ...]:
    ranks = sorted(rank(decision.fault) for decision in each.plan.decisions)
    return len(each.plan.decisions) + bool(each.plan.variant), ranks, each.finding.verdict != "REFUTED", str(each.plan)
