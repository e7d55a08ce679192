"""What happened in a run, as rows of a table: when, and who did what, in the lanes of user, controller, outside, store and cache.

Every moment that says something becomes a row, in order. A row's `weight` says how much it has to do with the finding: by it a trace is
cut down to what matters (see `trace`), and a page folds away the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Literal, TypeAlias

import msgspec

from setpoint.levelcheck.finding import Finding
from setpoint.levelcheck.recording import (
    AnyMoment,
    Called,
    Changed,
    Delivered,
    Died,
    Failed,
    Faulted,
    Key,
    Moment,
    Read,
    Recording,
    Rested,
    RunBegan,
    RunEnded,
    Started,
    Stepped,
    TimerSet,
    Wrote,
)
from setpoint.levelcheck.report.changes import changes, decoded, shown
from setpoint.levelcheck.report.decisions import decision_in_words
from setpoint.levelcheck.report.subject import Names, Subject

Lane: TypeAlias = Literal["user", "controller", "outside", "store", "cache"]
Mark: TypeAlias = Literal["", "decision", "start", "divergence", "finding"]
LANES: tuple[Lane, ...] = ("user", "controller", "outside", "store", "cache")
ALWAYS = 90
"""Rows of this weight or more are always shown."""
_ENVIRONMENT = ("environment", "server")


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One row. `at` is in simulated seconds since the user's first step.

    `wide` is a text across all lanes, instead of cells. `run` is whose run it belongs to, `nth` the how-manieth one of that process. `line`
    is the place in the user's code; `before` and `after` are the states that a write made, for those who want to see all of it.
    """

    at: float
    process: str
    weight: int
    cells: dict[Lane, str] = {}
    wide: str = ""
    mark: Mark = ""
    run: str = ""
    nth: int = 0
    line: str = ""
    key: Key | None = None
    before: bytes | None = None
    after: bytes | None = None
    revision: int = 0
    times: int = 1
    """How often it happened in a row: what repeats itself is told once."""

    @property
    def likeness(self) -> tuple[object, ...]:
        """Equal for rows that say the same, whenever and in whichever process it was."""
        return (self.wide, *sorted(self.cells.items()), self.run, self.line)


def rows_of(recording: Recording, subject: Subject, names: Names, finding: Finding | None = None) -> list[Row]:
    """All rows of a run, from the user's first step on; with the finding, if one is given, at its place."""
    teller = _Teller(recording, subject, names, finding)
    rows = [row for row in teller.rows() if row.at >= 0 or row.mark]
    if finding is not None:
        rows.insert(_place_of(finding, rows, recording), teller.found(finding))
    return rows


class _Teller:
    def __init__(self, recording: Recording, subject: Subject, names: Names, finding: Finding | None) -> None:
        self._recording = recording
        self._subject = subject
        self._names = names
        self._finding = finding
        self._idle: dict[tuple[str, str], bool] = {}
        self._nth: Counter[tuple[str, str]] = Counter()
        self._made = {moment.revision for moment in recording.moments if isinstance(moment, Wrote) and moment.revision}
        self._changes = {moment.revision: moment for moment in recording.moments if isinstance(moment, Changed)}
        self._by_step = _by_step(recording)
        self._made |= {change.revision for change in self._by_step.values()}
        self._decisions = len([moment for moment in recording.moments if isinstance(moment, Faulted)])
        self._decided = {str(decision): decision for decision in recording.plan.decisions}
        self._faulted = 0
        self._processes = 0

    def rows(self) -> Iterator[Row]:
        late: list[Faulted] = []
        for moment in self._recording.moments:
            if isinstance(moment, Faulted) and self._comes_after(moment):
                late.append(moment)  # it was decided before, but what is told is that it strikes after the write or the call
                continue
            if (row := self._told(moment)) is not None:
                yield row
            if late and isinstance(moment, Wrote | Called | Died):
                yield from (self._faulted_row(msgspec.structs.replace(each, at=moment.at)) for each in late)
                late = []
        yield from (self._faulted_row(each) for each in late)

    def found(self, finding: Finding) -> Row:
        at = finding.at or self._recording.ended
        return Row(at=at - self._recording.began, process="", weight=100, mark="finding", wide=finding.sentence, revision=finding.revision)

    def _told(self, moment: AnyMoment) -> Row | None:
        match moment:
            case Stepped():
                return self._stepped(moment)
            case Wrote():
                return self._wrote(moment)
            case Changed():
                return None if moment.revision in self._made else self._changed(moment)
            case Read():
                return self._read(moment)
            case Called():
                return self._called(moment)
            case Faulted():
                return self._faulted_row(moment)
            case Started():
                self._processes += 1
                first = self._processes == 1
                return None if first else self._row(moment, 92, {"controller": "starts anew, with an empty memory"}, mark="start")
            case Died(error=error) if error:
                return self._row(moment, 95, {"controller": f"the process ends: {error}"})
            case RunBegan():
                self._nth[moment.process, moment.run] += 1
                self._idle[moment.process, moment.run] = True
                return None
            case RunEnded():
                return self._ended(moment)
            case TimerSet():
                text = f"again in {moment.after:g} s ({moment.cause})"
                return self._row(moment, 12 if moment.cause == "timer" else 4, {"controller": text})
            case Delivered():
                text = f"{self._names.key(moment.key)}: {moment.type.lower()} v{moment.revision}"
                return self._row(moment, 2 + 6 * self._subject.closeness(moment.key), {"cache": text}, key=moment.key)
            case Rested():
                return self._row(moment, 6, {"store": f"at rest, v{moment.revision}"})
            case Failed():
                return self._row(moment, 88, {"controller": f"{moment.error}{f' in {moment.where}' if moment.where else ''}"})
        return None

    def _stepped(self, moment: Stepped) -> Row:
        change = self._by_step.get(moment.index)
        cells: dict[Lane, str] = {"user": moment.step + (f": {moment.error}" if moment.error else "")}
        if change is not None:
            cells["store"] = self._what(change)
        weight = 62 + 10 * self._subject.closeness(change.key) if change else 4 if moment.step == "wait" else 40
        return self._row(moment, 95 if moment.error else weight, cells, change=change)

    def _comes_after(self, moment: Faulted) -> bool:
        decision = self._decided.get(moment.text)
        return (
            decision is not None
            and decision.site.where in ("write", "effect")
            and (decision.how in ("after", "lost") or decision.fault == "F3")
        )

    def _faulted_row(self, moment: Faulted) -> Row:
        self._faulted += 1
        decision = self._decided.get(moment.text)
        said = decision_in_words(decision) if decision is not None else moment.text
        return self._row(moment, 100, wide=f"{said} (decision {self._faulted} of {self._decisions})", mark="decision")

    def _ended(self, moment: RunEnded) -> Row:
        if moment.error:
            return self._row(moment, 55, {"controller": f"fails: {moment.error}"}, run=moment.run)
        idle = self._idle.get((moment.process, moment.run), False)
        text = "finds nothing to do" if idle else f"ends: {moment.result}"
        return self._row(moment, 30 if idle and self._faulted else 2, {"controller": text}, run=moment.run)

    def _wrote(self, moment: Wrote) -> Row:
        if moment.effective:
            self._idle[moment.process, moment.site.who] = False
        change = self._changes.get(moment.revision)
        close = self._subject.closeness(moment.key)
        weight = (40, 62, 75)[close] if moment.effective else 3 + 3 * close
        if moment.reason or moment.code >= 400 or moment.fault:
            weight = max(weight, 58)
        if self._finding is not None and moment.line and moment.line == self._finding.line and close == 2 and moment.effective:
            weight += 8
        subresource = f" ({moment.subresource})" if moment.subresource else ""
        answered = f"{moment.code} {moment.reason}".strip() if moment.reason or moment.code >= 400 else ""
        lost = "its reply is lost" if not moment.code and moment.fault else ""
        said = [self._what(change) if change else "nothing changes" if not answered and not lost else "", answered or lost]
        cells: dict[Lane, str] = {
            "controller": f"{moment.verb} {self._names.key(moment.key)}{subresource}",
            "store": "; ".join(each for each in said if each),
        }
        return self._row(moment, weight, cells, run=moment.site.who, line=moment.line, key=moment.key, change=change)

    def _changed(self, change: Changed) -> Row:
        others = change.process in _ENVIRONMENT
        by = "the cluster: " if others else ""
        text = f"{by}{self._names.key(change.key)} {self._what(change)}"
        lane: Lane = "user" if change.process == "user" else "store"
        weight = (10, 20, 24)[self._subject.closeness(change.key)] if others else (40, 50, 64)[self._subject.closeness(change.key)]
        if others and self._subject.closeness(change.key) == 2 and (change.deleted or change.before is None or self._touches(change)):
            weight = 60
        return self._row(change, weight, {lane: text}, change=change)

    def _read(self, moment: Read) -> Row:
        close = self._subject.closeness_of(moment.resource)
        stale = not moment.live and moment.seen < moment.true
        what = self._names.object(moment.resource, moment.namespace, moment.name)
        seen = f"read live v{moment.true}" if moment.live else f"read v{moment.seen}{f' (true: v{moment.true})' if stale else ''}"
        cells: dict[Lane, str] = {"controller": f"{'read' if moment.name else 'list'} {what}", "cache": seen}
        weight = (45, 68, 72)[close] if stale else 4 + 3 * close + (20 if close and self._faulted else 0)
        return self._row(moment, weight, cells, run=moment.run, line=moment.line)

    def _called(self, moment: Called) -> Row:
        outcome = moment.error or moment.result or ("done" if moment.changed else "nothing changes")
        cells: dict[Lane, str] = {"controller": f"call {moment.call}({moment.arguments})", "outside": outcome}
        if moment.changed:
            self._idle[moment.process, moment.site.who] = False
        weight = 70 if moment.fault or moment.error else 62 if moment.changed else 10
        return self._row(moment, weight, cells, run=moment.site.who)

    def _touches(self, change: Changed) -> bool:
        """Whether it changes the field of the finding."""
        field = self._finding.field if self._finding is not None else ""
        return bool(field) and any(_overlap(each.path, field) for each in changes(decoded(change.before), decoded(change.after)))

    def _what(self, change: Changed) -> str:
        """What a change did, in a few words: the finding's field first, then what differs first."""
        rev = f" (v{change.revision})"
        if change.deleted:
            return "gone" + rev
        found = changes(decoded(change.before) if change.before is not None else None, decoded(change.after))
        if change.before is None:
            field = self._finding.field if self._finding is not None else ""
            value = _at(decoded(change.after), field)
            return f"created{f', {field} = {value}' if value else ''}{rev}"
        wanted = self._finding.field if self._finding is not None else ""
        found.sort(key=lambda each: not (wanted and _overlap(each.path, wanted)))
        if any(each.path == ".metadata.deletionTimestamp" for each in found):
            return "is being deleted" + rev
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        return f"{found[0]}{more}{rev}" if found else "changes" + rev

    def _row(
        self,
        moment: Moment,
        weight: int,
        cells: dict[Lane, str] | None = None,
        *,
        wide: str = "",
        mark: Mark = "",
        run: str = "",
        line: str = "",
        key: Key | None = None,
        change: Changed | None = None,
    ) -> Row:
        at, process = moment.at - self._recording.began, moment.process
        return Row(
            at=at,
            process=process,
            weight=weight,
            cells=cells or {},
            wide=wide,
            mark=mark,
            run=run,
            nth=self._nth[process, run] if run else 0,
            line=line,
            key=change.key if change is not None else key,
            before=change.before if change is not None else None,
            after=change.after if change is not None and not change.deleted else None,
            revision=change.revision if change is not None else 0,
        )


def _place_of(finding: Finding, rows: list[Row], recording: Recording) -> int:
    """Where in the rows the finding belongs: after the moment, or the revision, that it names; else at the end."""
    if finding.at:
        return len([row for row in rows if row.at <= finding.at - recording.began])
    if finding.revision:
        return 1 + max((index for index, row in enumerate(rows) if 0 < row.revision <= finding.revision), default=len(rows) - 1)
    return len(rows)


def _overlap(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def _by_step(recording: Recording) -> dict[int, Changed]:
    """What each of the user's steps changed, by the step's index: the user's change of that object which lies nearest."""
    moments = recording.moments
    steps = [(place, moment) for place, moment in enumerate(moments) if isinstance(moment, Stepped)]
    found: dict[int, Changed] = {}
    for place, change in enumerate(moments):
        if isinstance(change, Changed) and change.process == "user":
            near = [(abs(at - place), step.index) for at, step in steps if change.key.name in step.step]
            if near:
                found[min(near)[1]] = change
    return found


def _at(obj: object, path: str) -> str:
    """The value at a simple path, as text, or empty."""
    for name in path.strip(".").split(".") if path else []:
        if not isinstance(obj, dict) or name not in obj:
            return ""
        obj = obj[name]
    return shown(obj) if path else ""
