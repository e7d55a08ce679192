"""`Checking`: one check, stage by stage: see `setpoint.levelcheck.check`."""

from __future__ import annotations

import resource as usage
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import msgspec

from setpoint.levelcheck.case import Case
from setpoint.levelcheck.faults import NAMES
from setpoint.levelcheck.finding import Finding, Refutation, Verdict
from setpoint.levelcheck.oracles import NO_MASKS, Masks, canonical, judge, judge_path, judge_reference
from setpoint.levelcheck.oracles.roles import RoleFailed
from setpoint.levelcheck.oracles.said import said_by
from setpoint.levelcheck.oracles.told import remembered
from setpoint.levelcheck.outcome import Broken, Report
from setpoint.levelcheck.plan import Decision, Plan, Site
from setpoint.levelcheck.recording import Recording, Snapshot, Stepped, TimerSet
from setpoint.levelcheck.report import token as tokens
from setpoint.levelcheck.run.execution import Execution, Loaders
from setpoint.levelcheck.run.rest import LONGEST
from setpoint.levelcheck.search import variants
from setpoint.levelcheck.search.explore import CheckFailed, Explored, Explorer, Hung
from setpoint.levelcheck.search.pairs import Pairs
from setpoint.levelcheck.search.single import before_writes, singles
from setpoint.levelcheck.search.tally import Tally, of_path

Progress: TypeAlias = Callable[[int, int, str], None]

SEEDS = {0: 1, 1: 3, 2: 10}
"""By depth, in how many other orders of events the run without faults is made."""
TOLD = 8
"""So many refutations are made small and told; the rest is counted."""


class SiteGone(Exception):
    """A decision has no place in the run any more: the controller does not come there."""


class Inconclusive(Exception):
    """Nothing can be said. The text says why."""


class Judged(msgspec.Struct, frozen=True):
    """What is wrong with a run. `joined` is the rest at which it was ended as the run without faults, `broken` why it makes no sense."""

    findings: tuple[Finding, ...]
    joined: int
    broken: str


class Checking:
    """One check of one case."""

    def __init__(
        self,
        case: Case,
        loaders: Loaders,
        *,
        name: str,
        depth: int = 1,
        budget: float | None = None,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> None:
        self._case = case
        self._loaders = loaders
        self._name = name
        self._depth = depth
        self._budget = budget
        self._seed = seed
        self._heard = progress or (lambda done, of, what: None)
        self._stage = 0, ""
        self._masks: Masks = NO_MASKS
        self._prepared: Execution | None = None
        self._references: dict[str, Recording] = {}
        self._tally = Tally(case)
        self._seeds: tuple[int, ...] = ()
        self._alone: set[tuple[Decision, ...]] = set()
        """The single faults of the workload that have been tried."""
        self._runs = 0
        self._joined = 0
        self._before = _cpu()

    # the stages

    def check(self) -> Report:
        """All of them."""
        try:
            self._reference_stage()
            if all(each.finding.verdict != "REFUTED" for each in self._tally.refuted):
                if self._depth >= 1:
                    self._variant_stage()
                    self._single_stage()
                if self._depth >= 2:
                    self._pair_stage()
                if self._budget is not None:
                    self._chance_stage()
            return self._report(self._tally.verdict)
        except (Inconclusive, CheckFailed, RoleFailed) as error:
            return self._report("INCONCLUSIVE", str(error))

    def replay(self, token: str) -> Broken | None:
        """See `setpoint.levelcheck.check.replay`."""
        plan = tokens.decode(token)
        self._reference_stage()
        reference, recording = self._beside(plan.variant), self._record(plan)
        if recording.unused:
            gone = "; ".join(recording.unused)
            raise SiteGone(f"this place is not reached any more: {gone}. The token says nothing about the controller as it is now")
        if plan != Plan():  # else what is wrong with the run without faults has been taken already
            self._tally.refuted.clear()
            self._tally.take(plan, self._judged(plan, reference, recording))
        if not self._tally.refuted:
            return None
        return self._broken(self._tally.refuted[0], recording)

    def _reference_stage(self) -> None:
        self._begins("the run without faults")
        if self._loaders.splits:
            self._prepared = Execution(self._case, Plan(), self._case.workload, self._loaders)
            self._prepared.begin()
        reference = self._references[""] = self._record(Plan())
        if reference.end == "broken":
            raise Inconclusive(reference.why)
        for moment in reference.moments:
            if isinstance(moment, Stepped) and moment.error:
                raise Inconclusive(f"the server refuses a step of the workload, {moment.step}: {moment.error}")
        if (again := self._record(Plan(), anew=True)).digest != reference.digest:
            raise Inconclusive(_differing(reference, again))
        number = SEEDS.get(self._depth, 10)
        self._seeds = tuple(range(1, number + 1))
        others = [self._record(Plan(seed=seed)) for seed in self._seeds]
        findings, self._masks = judge_reference(self._case, reference, others)
        self._tally.tried("F21", number)
        self._tally.take(Plan(), findings)

    def _variant_stage(self) -> None:
        for name in variants.names(self._case.workload, kinds=self._references[""].kinds):
            plan = Plan(variant=name)
            self._begins(f"variants of the workload: {name}")
            recording = self._reference(name)
            self._tally.tried("F14" if name.startswith(("recreate", "undone")) else "F0")
            refused = next((m for m in recording.moments if isinstance(m, Stepped) and m.error), None)
            if recording.end == "broken" or refused is not None:
                self._tally.cut("F14", f"the server refuses it: {refused.step if refused else recording.why}")
                continue
            self._tally.take(plan, self._judged(plan, self._beside(name), recording))

    def _single_stage(self) -> None:
        made = singles(self._case, self._references[""])
        self._tally.leaves_out(made.cuts, made.skipped)
        self._explore_singles("", made.decisions)
        self._foreign_stage()

    def _foreign_stage(self) -> None:
        """What the user and others do in the middle of a run: compared with the same, done at rest."""
        reference = self._references[""]
        keys = {moment.step.partition(" ")[2]: moment.key for moment in reference.moments if isinstance(moment, Stepped) and moment.key}
        for number, ref, manifest in variants.of_each_kind(self._case.workload, reference.kinds):
            key = keys[str(ref)]
            others = sum(other.kind == ref.kind for other, _ in variants.applied(self._case.workload)) - 1
            for fault in ("F14", "F18", "F19"):
                if others:
                    self._tally.cut(fault, f"other {ref.kind} objects: what is done to the first stands for them", others)
            if (cut := self._sound(f"cut:{number}")) is not None and self._sound(f"made:{number}") is not None:
                self._explore_singles(f"cut:{number}", before_writes(cut, "F18", "delete", str(key)), "deletions in the middle")
            for field in variants.fields(manifest)[:1] if variants.remains(self._case.workload, ref) else ():
                if self._sound(f"edited:{number}:{field}") is not None:
                    patch = msgspec.json.encode({"spec": {field: variants.other(manifest["spec"][field])}}).decode()
                    edits = before_writes(reference, "F19", "spec", f"{key}|{patch}", last=True)
                    self._explore_singles(f"edit:{number}:{field}", edits, "foreign changes in the middle")

    def _sound(self, variant: str) -> Recording | None:
        """The run of a variant without faults; None where the server refuses it, or where it does not come to rest."""
        recording = self._reference(variant)
        refused = any(isinstance(moment, Stepped) and moment.error for moment in recording.moments)
        return None if refused or recording.end != "rest" else recording

    def _explore_singles(self, variant: str, decisions: Sequence[Decision], what: str = "single faults") -> None:
        by_site: dict[Site, list[Decision]] = {}
        for decision in decisions:
            by_site.setdefault(decision.site, []).append(decision)
            self._tally.tried(decision.fault)
        self._begins(what, len(decisions))
        root = Plan(variant=variant)
        at_start = by_site.pop(Site("start"), [])
        found = [
            explored
            for decision in at_start
            for explored in self._explore(msgspec.structs.replace(root, decisions=(decision,)), lambda plan, site: ())
        ]

        def choose(plan: Plan, site: Site) -> Sequence[Decision]:
            return () if plan.decisions else by_site.pop(site, ())

        found += self._explore(root, choose)
        tried = {explored.plan.decisions for explored in found}
        if not variant:
            self._alone |= tried
        for decision in decisions:
            if (decision,) not in tried:
                self._tally.lost(decision.fault)

    def _pair_stage(self) -> None:
        pairs = Pairs(self._case, self._references[""])
        for name, root, choose in pairs.stages():
            self._begins(name)
            for explored in self._explore(root, choose):
                if explored.plan.decisions and explored.plan.decisions not in self._alone:
                    self._tally.tried("x".join(decision.fault for decision in explored.plan.decisions))
        for variant in pairs.variants():
            reference = self._reference(variant)
            if reference.end == "rest":
                chosen = pairs.singles_of(reference)
                self._explore_singles(variant, chosen, f"single faults of {variant}")

    def _chance_stage(self) -> None:
        assert self._budget is not None
        pairs = Pairs(self._case, self._references[""])
        for plan in pairs.by_chance(self._seed):
            if _cpu() - self._before > self._budget:
                break
            self._begins("by chance, as far as the budget reaches")
            self._tally.tried("F21")
            self._explore(plan, lambda plan, site: ())

    # runs

    def _record(self, plan: Plan, *, anew: bool = False) -> Recording:
        """The recording of one plan; with `anew`, from an empty cluster."""
        workload = variants.variant(self._case.workload, plan.variant)
        explorer: Explorer[Recording] = Explorer(
            self._case, self._loaders, lambda plan, site: (), lambda recording: recording, prepared=None if anew else self._prepared
        )
        [explored] = explorer.explore(plan, workload)
        self._runs += 1
        if isinstance(explored.result, Hung):
            raise Inconclusive(f"{plan}: {explored.result.why}")
        return explored.result

    def _reference(self, variant: str) -> Recording:
        """The run of a variant without faults."""
        found = self._references.get(variant)
        if found is None:
            found = self._references[variant] = self._record(Plan(variant=variant))
        return found

    def _beside(self, variant: str) -> Recording:
        """What a run of a variant is compared with: where that does something else on the way, at the end alone."""
        reference = self._reference(variants.against(variant))
        if variants.against(variant) not in ("", variant):
            reference = self._references.setdefault(f"the end of {variant}", msgspec.structs.replace(reference, rests=()))
        return reference

    def _explore(self, root: Plan, choose: Callable[[Plan, Site], Sequence[Decision]]) -> list[Explored[Judged]]:
        case, reference, masks = self._case, self._beside(root.variant), self._masks
        joinable = {snapshot.nth: snapshot for snapshot in reference.rests}
        keep = said_by(case.workload)
        digests, until = remembered(reference, ("rests", masks), lambda: self._looked_at(reference))

        def joins(plan: Plan, snapshot: Snapshot) -> bool:
            """Whether the run has come to where the run without faults was, with nothing left that could make a difference."""
            there = joinable.get(snapshot.nth)
            if there is None or not plan.decisions or not snapshot.memory or snapshot.memory != there.memory:
                return False
            if snapshot.timers != there.timers or plan.variant or plan.seed:
                return False
            return canonical(snapshot.objects, snapshot.outside, keep=keep, masks=masks).digest == digests[snapshot.nth]

        def verdict(recording: Recording) -> Judged:
            beside = until[recording.joined] if recording.joined else reference
            findings = judge(case, beside, recording, masks) if recording.plan.decisions or recording.plan.seed else []
            return Judged(tuple(findings), recording.joined, recording.why if recording.end == "broken" else "")

        explorer = Explorer(case, self._loaders, choose, verdict, joins, self._prepared, self._went_on)
        found = explorer.explore(root, variants.variant(case.workload, root.variant))
        self._runs += len(found)
        for explored in found:
            if isinstance(explored.result, Hung):
                self._tally.take(explored.plan, [Finding("O2", explored.result.why)])
            elif explored.result.broken:
                raise Inconclusive(f"{explored.plan}: {explored.result.broken}")
            else:
                self._joined += bool(explored.result.joined)
                self._tally.take(explored.plan, explored.result.findings)
        return found

    def _looked_at(self, reference: Recording) -> tuple[dict[int, str], dict[int, Recording]]:
        """By rest, the digest of the state, and the recording until then. What oracles find out about each is kept with it from now on, so
        that it need not be found out in each run that is forked.
        """
        keep = said_by(self._case.workload)
        until = {rest.nth: reference.until(rest.nth) for rest in reference.rests}
        for beside in (reference, *until.values()):
            judge(self._case, beside, beside, self._masks)
        state = partial(canonical, keep=keep, masks=self._masks)
        return {rest.nth: state(rest.objects, rest.outside).digest for rest in reference.rests}, until

    def _judged(self, plan: Plan, reference: Recording, recording: Recording) -> list[Finding]:
        sort = plan.variant.partition(":")[0]
        if sort == "direct" and not plan.decisions:
            return judge_path(self._case, reference, recording, self._masks)
        if sort == "back" and not plan.decisions:
            return judge_path(self._case, recording, reference, self._masks, "if the user never changes it")
        if plan.variant and not plan.decisions and reference.plan.variant == plan.variant:
            return judge_reference(self._case, recording, ())[0]
        findings = judge(self._case, reference, recording, self._masks)
        if sort == "recreate" and not plan.decisions and any(finding.oracle == "O1" for finding in findings):
            # What was made anew is as on a fresh cluster: then it is the workload's own way that leaves traces.
            fresh = self._sound("direct")
            if fresh is not None and not judge_path(self._case, recording, fresh, self._masks):
                return [of_path(finding) if finding.oracle == "O1" else finding for finding in findings]
        return findings

    # what is told

    def _begins(self, what: str, runs: int = 0) -> None:
        """A stage begins; so many runs are to come, 0 if nobody knows."""
        self._stage = self._runs + runs if runs else 0, what
        self._went_on(0)

    def _went_on(self, further: int) -> None:
        of, what = self._stage
        self._heard(self._runs + further, of, what)

    def _report(self, verdict: Verdict, inconclusive: str = "") -> Report:
        return Report(
            case=self._case,
            name=self._name,
            verdict=verdict,
            depth=self._depth,
            bound=self._bound(),
            broken=tuple(self._told()) if not inconclusive else (),
            warnings=self._tally.warnings,
            waived=self._tally.waived,
            coverage=self._tally.coverage,
            reference=self._references.get(""),
            runs=self._runs,
            seconds=_cpu() - self._before,
            seeds=self._seeds,
            inconclusive=inconclusive,
            notes=(*self._masks.notes, *self._further_notes()),
        )

    def _further_notes(self) -> list[str]:
        said = []
        if self._joined:
            same = "the cluster, the outside, the timers and the memory of the user's modules were those of the run without faults"
            said.append(f"{self._joined} runs were ended at a rest at which {same}: from there on they would have been that run")
        moments = self._references[""].moments if "" in self._references else []
        long = {str(moment.site.who) for moment in moments if isinstance(moment, TimerSet) and 2 * moment.after > LONGEST}
        if long:
            said.append(
                f"timers of more than {LONGEST / 2:g} s were not waited for ({', '.join(sorted(long))}): a workload can advance the time"
            )
        return said

    def _bound(self) -> str:
        what = {0: "no faults", 1: "every single fault of the classes below", 2: "every single fault and chosen pairs of the classes below"}
        steps = len(self._case.workload.steps)
        assumed = "; ".join(self._case.assumptions.declared)
        return (
            f"for this workload ({steps} steps) and its variants, {what.get(self._depth, what[2])}, {self._runs} runs"
            f"{f', assuming that {assumed}' if assumed else ''}"
        )

    def _told(self) -> list[Broken]:
        """The refutations that are told: one of each signature, the plainest plan of each, made small."""
        told = []
        for refutation in self._tally.plainest[:TOLD]:
            small = self._made_small(refutation.plan, refutation.finding)
            try:
                recording = self._record(small)
            except Inconclusive:
                continue
            told.append(self._broken(msgspec.structs.replace(refutation, plan=small), recording))
        return told

    def _broken(self, refutation: Refutation, recording: Recording) -> Broken:
        plan, reference = refutation.plan, self._beside(refutation.plan.variant)
        if plan.variant == "direct" and not plan.decisions:  # where the way there is to blame, it is the way that is told
            recording, reference = reference, recording
        return Broken(refutation=refutation, recording=recording, reference=reference, token=tokens.encode(plan), why=_why(plan))

    def _made_small(self, plan: Plan, finding: Finding) -> Plan:
        """The plan without what the same finding does not need."""
        smaller = True
        # In the usual order of events the last decision is needed: without any, this is the run that it was compared with.
        while smaller and len(plan.decisions) > (0 if plan.seed else 1):
            smaller = False
            for at in range(len(plan.decisions)):
                fewer = msgspec.structs.replace(plan, decisions=plan.decisions[:at] + plan.decisions[at + 1 :])
                if self._finds(fewer, finding):
                    plan, smaller = fewer, True
                    break
        return plan

    def _finds(self, plan: Plan, finding: Finding) -> bool:
        try:
            recording = self._record(plan)
        except Inconclusive:
            return False
        if recording.unused:
            return False
        found = self._judged(plan, self._beside(plan.variant), recording)
        return any(_alike(each, finding) for each in found)


def _why(plan: Plan) -> tuple[str, ...]:
    """What a finding needs, as its plan says that was made small."""
    if not plan.decisions:
        return ()
    if len(plan.decisions) == 1:
        return (f"without {NAMES[plan.decisions[0].fault]} the run comes to the end that is expected",)
    return ("each of these faults alone does no harm: all of them are needed",)


def _alike(one: Finding, other: Finding) -> bool:
    return (one.oracle, one.resource, one.role, one.field) == (other.oracle, other.resource, other.role, other.field)


def _differing(one: Recording, other: Recording) -> str:
    first = next((str(a) for a, b in zip(one.moments, other.moments, strict=False) if a != b), "the end")
    return (
        "two runs without faults differ, so that nothing can be compared: something in the controller is not decided by its inputs. "
        f"They part at: {first[:300]}"
    )


def _cpu() -> float:
    own, children = usage.getrusage(usage.RUSAGE_SELF), usage.getrusage(usage.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
