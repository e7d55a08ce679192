"""What is known of a refutation, put together so that one can ask it questions: which write, what was read before it, what went wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from setpoint.levelcheck.finding import Finding
from setpoint.levelcheck.outcome import Broken
from setpoint.levelcheck.plan import Decision
from setpoint.levelcheck.recording import Changed, Died, Faulted, Key, Read, Recording, RunBegan, Wrote
from setpoint.levelcheck.report.changes import Change, changes, decoded
from setpoint.levelcheck.report.subject import Subject, owners_of, subject_of


@dataclass(frozen=True)
class Run:
    """One run of a reconciler: what it read and wrote, in order."""

    process: str
    name: str
    reads: list[Read]
    writes: list[Wrote]

    def reads_before(self, write: Wrote) -> list[Read]:
        """What it had read when it wrote that."""
        return [read for read in self.reads if read.at <= write.at]


@dataclass(frozen=True)
class Evidence:
    """Of one refutation."""

    broken: Broken

    @property
    def finding(self) -> Finding:
        """What was found."""
        return self.broken.refutation.finding

    @property
    def recording(self) -> Recording:
        """The run in which it was."""
        return self.broken.recording

    @property
    def faults(self) -> tuple[str, ...]:
        """The classes of what went wrong; F14 where the user makes the same name anew."""
        plan = self.broken.refutation.plan
        variant = ("F14",) if plan.variant.startswith("recreate") else ()
        return (*(decision.fault for decision in plan.decisions), *variant)

    def has(self, *faults: str) -> bool:
        """Whether one of these went wrong."""
        return any(fault in self.faults for fault in faults)

    def decision(self, *faults: str) -> Decision | None:
        """The first decision of one of these classes."""
        return next((each for each in self.broken.refutation.plan.decisions if each.fault in faults), None)

    @cached_property
    def subject(self) -> Subject:
        """What the finding is about."""
        return subject_of(self.finding, self.recording, self.broken.reference)

    @cached_property
    def runs(self) -> list[Run]:
        """All runs, in the order in which they began."""
        return list(runs_of(self.recording))

    @cached_property
    def change_by_revision(self) -> dict[int, Changed]:
        """What each revision changed."""
        return {change.revision: change for change in self.recording.changes}

    @cached_property
    def first_fault(self) -> float:
        """When the first thing went wrong; the beginning where nothing does."""
        return next((moment.at for moment in self.recording.moments if isinstance(moment, Faulted)), self.recording.began)

    @cached_property
    def writes_of_subject(self) -> list[Wrote]:
        """What the controller wrote to the object, with effect."""
        return [write for write in self.recording.writes if write.effective and write.key in self.subject.keys]

    @cached_property
    def offender(self) -> Wrote | None:
        """The write that did it: at the line of the finding; else the last that changed the object after something went wrong.

        None where the trouble is that there was no such write.
        """
        at_line = [write for write in self.recording.writes if self.finding.line and write.line == self.finding.line]
        here = [write for write in at_line if write.key in self.subject.keys] or at_line
        about = [write for write in self.recording.writes if not self.subject.keys or write.key in self.subject.keys]
        if self.finding.revision:
            here = [write for write in about if write.revision == self.finding.revision] or here
        late = [write for write in self.writes_of_subject if write.at >= self.first_fault]
        return next(reversed(here or late), None)

    def run_of(self, write: Wrote) -> Run | None:
        """The run that made a write."""
        return next((run for run in self.runs if any(each is write for each in run.writes)), None)

    @cached_property
    def decider(self) -> Read | None:
        """The read that decided the offender: the last stale one before it in its run; else the last of the object, or of anything.

        Without an offender it is the last read of the run that, after something had gone wrong, found nothing to do.
        """
        if self.offender is None:
            idle = [run for run in self.runs if run.reads and not run.writes and run.reads[0].at >= self.first_fault]
            return idle[0].reads[-1] if idle else None
        if (run := self.run_of(self.offender)) is None:
            return None
        reads = run.reads_before(self.offender)
        stale = [read for read in reads if not read.live and read.seen < read.true]
        about = [read for read in reads if read.resource == self.offender.key.resource]
        return next(reversed(stale or about or reads), None)

    @cached_property
    def crashed(self) -> tuple[Run, Wrote] | None:
        """The run in which the process died, and the last write that it had made; None if it died elsewhere, or had made none."""
        died = next((moment for moment in self.recording.moments if isinstance(moment, Died)), None)
        if died is None:
            return None
        own = [run for run in self.runs if run.process == died.process and run.writes]
        if not own:
            return None
        landed = [write for write in own[-1].writes if write.at <= died.at and write.revision]
        return (own[-1], landed[-1]) if landed else None

    def primary(self, run: str) -> str:
        """The name of the object that a run is for: `shop` of `webapp default/shop`."""
        return run.rpartition(" ")[2].rpartition("/")[2]

    def created(self, write: Wrote) -> bool:
        """Whether a write has made its object."""
        change = self.change_by_revision.get(write.revision)
        return change is not None and change.before is None

    def fields_of(self, write: Wrote) -> list[Change]:
        """What a write has changed."""
        change = self.change_by_revision.get(write.revision)
        return [] if change is None else changes(decoded(change.before), decoded(change.after))

    @cached_property
    def drawn(self) -> str:
        """An object whose name differs from that which the reference makes at the same line, as drawn names do; or empty."""
        there = [write for write in self.broken.reference.writes if write.revision and write.line]
        for write in self.recording.writes:
            if write.key.resource != self.finding.resource or not write.revision or "*" in write.key.name:
                continue
            others = [other.key for other in there if (other.line, other.key.resource) == (write.line, write.key.resource)]
            if others and write.key not in others and all(_drawn_alike(write.key.name, other.name) for other in others):
                return str(write.key)
        return ""

    @cached_property
    def generated_twice(self) -> str:
        """The resource of which the controller has made more objects with generated names for one owner than without faults; or empty."""
        ours, theirs = (_generated(recording) for recording in (self.recording, self.broken.reference))
        return next((resource for (resource, owner), count in ours.items() if count > theirs.get((resource, owner), 0)), "")


def runs_of(recording: Recording) -> Iterator[Run]:
    """The runs of a recording. What is read or written outside any of them belongs to none."""
    under_way: dict[tuple[str, str], Run] = {}
    for moment in recording.moments:
        if isinstance(moment, RunBegan):
            run = under_way[moment.process, moment.run] = Run(moment.process, moment.run, [], [])
            yield run
        elif isinstance(moment, Read) and (found := under_way.get((moment.process, moment.run))):
            found.reads.append(moment)
        elif isinstance(moment, Wrote) and (found := under_way.get((moment.process, moment.site.who))):
            found.writes.append(moment)


def _generated(recording: Recording) -> Counter[tuple[str, tuple[tuple[str, str], ...]]]:
    made: Counter[tuple[str, tuple[tuple[str, str], ...]]] = Counter()
    own = {write.revision for write in recording.writes}
    for change in recording.changes:
        if change.before is None and change.revision in own:
            state: dict[str, Any] = decoded(change.after)
            if _has_generated_name(change.key, state, recording):
                made[change.key.resource, tuple(owners_of(state))] += 1
    return made


def _has_generated_name(key: Key, state: dict[str, Any], recording: Recording) -> bool:
    """By the server; or by the controller itself, which shows in that no step of the user and no owner has a part in its ending."""
    if (state.get("metadata") or {}).get("generateName"):
        return True
    ending = key.name.rpartition("-")[2]
    return (
        "-" in key.name and len(ending) >= 4 and any(letter.isdigit() for letter in ending) and any(letter.isalpha() for letter in ending)
    )


def _drawn_alike(one: str, other: str) -> bool:
    """Whether two names are equal but for an end that looks drawn: four letters or more, digits among them."""
    (begin, _, end), (begins, _, ends) = one.rpartition("-"), other.rpartition("-")
    return begin == begins and end != ends and all(len(each) >= 4 and any(c.isdigit() for c in each) for each in (end, ends))
