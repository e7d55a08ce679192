"""A report in words: what came of a check, for a terminal of any width, a log or a failed test.

First the verdict, then of each refutation the trace, the difference, why, and what to do; then what was covered, under which assumptions,
and what was not checked.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from setpoint.levelcheck.faults import NAMES
from setpoint.levelcheck.outcome import Broken, Covered, Report
from setpoint.levelcheck.report.changes import changes
from setpoint.levelcheck.report.decisions import workload_in_words
from setpoint.levelcheck.report.divergence import settled
from setpoint.levelcheck.report.evidence import Evidence
from setpoint.levelcheck.report.rows import Lane, Row
from setpoint.levelcheck.report.suggestion import suggestion
from setpoint.levelcheck.report.trace import Trace, trace

Style: TypeAlias = Literal["", "good", "bad", "unsure", "heading", "decision", "divergence", "finding", "dim"]
WIDTH = 120
_STYLES: dict[str, Style] = {"HELD": "good", "REFUTED": "bad", "PATH-DEPENDENT": "bad", "INCONCLUSIVE": "unsure"}
_MARKS: dict[str, Style] = {"decision": "decision", "start": "decision", "divergence": "divergence", "finding": "finding"}
_MOST_DIFFERENCES = 8
_MOST_BESIDE = 3
_MOST_TOLD = 3
"""So many refutations are told with their traces; the others in a line each."""


class Line(NamedTuple):
    """A line of text, and how it looks where colours can be had."""

    text: str
    style: Style = ""


def in_words(report: Report, width: int = WIDTH, command: str = "") -> str:
    """The report as text. `command` is what checks this again: `setpoint check` and the report's name, if nothing else is said."""
    return "\n".join(line.text for line in lines(report, width, command))


def lines(report: Report, width: int = WIDTH, command: str = "") -> Iterator[Line]:
    """The report line by line; see `in_words`."""
    command = command or command_of(report)
    yield from _wrapped(headline(report), width, _STYLES[report.verdict])
    if "\n" in report.inconclusive.strip():
        yield from (Line(f"  {line}", "dim") for line in report.inconclusive.rstrip().splitlines())
    for number, broken in enumerate(report.broken):
        if number < _MOST_TOLD:
            if number:
                yield Line("")
                yield from _wrapped(f"{manner(broken)}: {sentence_of(broken)}", width, "bad")
            yield Line(f"  {replay_command(command, broken)}", "dim")
            yield Line("")
            yield from refutation(broken, width)
        else:
            yield from _wrapped(f"Also: {sentence_of(broken)}", width)
            yield Line(f"  {replay_command(command, broken)}", "dim")
    yield from _warnings(report, width)
    if report.verdict != "INCONCLUSIVE" or any(covered.tried for covered in report.coverage):
        yield from _coverage(report, width)


def refutation(broken: Broken, width: int = WIDTH) -> Iterator[Line]:
    """One refutation: its trace, the difference, why, and what to do."""
    yield from _trace(trace(broken), width)
    if differs := difference(broken):
        yield Line("Difference", "heading")
        yield from (each for text in differs for each in _wrapped(text, width, indent="  "))
    if why := causes(broken):
        yield Line("Why", "heading")
        yield from (each for text in why for each in _wrapped(text, width, indent="  "))
    if said := suggestion(broken):
        yield Line("Suggestion", "heading")
        yield from _wrapped(said, width, indent="  ", hang="")
    beside = broken.refutation.beside
    for finding in beside[:_MOST_BESIDE]:
        yield from _wrapped(f"Beside it: {finding.sentence}", width, "dim")
    if len(beside) > _MOST_BESIDE:
        yield Line(f"and {len(beside) - _MOST_BESIDE} more like it", "dim")
    if broken.refutation.others:
        also = f" ({', '.join(NAMES[fault] for fault in broken.refutation.also)})" if broken.refutation.also else ""
        yield from _wrapped(f"{_count(broken.refutation.others, 'other plan')} with the same finding{also}", width, "dim")


def headline(report: Report) -> str:
    """The verdict in a sentence, never without its bound."""
    if report.verdict == "INCONCLUSIVE":
        said = [line.strip() for line in report.inconclusive.splitlines() if line.strip()]
        return f"INCONCLUSIVE: {said[-1] if said else 'nothing can be said'}"
    if report.verdict == "HELD":
        return f"HELD: {report.name} is level-based {report.bound}" if report.bound else f"HELD: {report.name}"
    first = f", {manner(report.broken[0])}: {sentence_of(report.broken[0])}" if report.broken else ""
    return f"{report.verdict}{first}"


def manner(broken: Broken) -> str:
    """In which way it is not level-based, in a word or two."""
    evidence = Evidence(broken)
    for faults, words in _MANNERS:
        if evidence.has(*faults):
            return words
    return "dependent on the way to it" if broken.refutation.finding.oracle in ("O12", "O13") else "without any fault"


_MANNERS: Sequence[tuple[tuple[str, ...], str]] = (
    (("F15",), "unsafe with two leaders"),
    (("F6",), "unsafe with old lists after a restart"),
    (("F16",), "unsafe with caches that are not complete"),
    (("F13",), "blind to what happens while it is down"),
    (("F1", "F12"), "crash-unsafe"),
    (("F2", "F3", "F4"), "unsafe when a write fails"),
    (("F20",), "unsafe when a call outside fails"),
    (("F8", "F9", "F10"), "edge-triggered"),
    (("F5", "F7"), "unsafe with late events"),
    (("F14",), "unsafe with a successor of the same name"),
    (("F17",), "unsafe with clocks that differ"),
    (("F18", "F19"), "unsafe when others write"),
    (("F11",), "not idempotent"),
    (("F22",), "dependent on the order of lists"),
)
"""The most telling first, where several things go wrong."""


def sentence_of(broken: Broken) -> str:
    """What is found, after what went wrong."""
    first, space, rest = broken.refutation.finding.sentence.rstrip(".").partition(" ")
    return (first.lower() if first[1:].islower() else first) + space + rest


def clock(at: float) -> str:
    """Simulated seconds, no wider than eight letters."""
    return f"{at:.3f}s" if abs(at) < 1000 else f"{at:.1f}s" if abs(at) < 100_000 else f"{at / 3600:.1f}h"


def command_of(report: Report) -> str:
    """What checks it again on a command line, if everything that it needs is found by the target's name."""
    return f"setpoint check {report.name}"


def replay_command(command: str, broken: Broken) -> str:
    """What brings the run back on a command line."""
    return f"{command} --replay {broken.token}"


def bound_of(report: Report) -> str:
    """How far the check went, in a line."""
    return f"{report.runs} runs in {report.seconds:.1f} s, depth {report.depth}"


def difference(broken: Broken) -> list[str]:
    """Expected and found; where these are not told, what differs at the end in the objects that the finding is about."""
    finding = broken.refutation.finding
    where = " ".join(each for each in (finding.resource, finding.role, finding.field) if each)
    if finding.expected or finding.found:
        said = [f"  expected  {finding.expected}"] if finding.expected else []
        said += [f"  found     {finding.found}"] if finding.found else []
        return [*([where] if where else []), *said]
    evidence = Evidence(broken)
    said = []
    for key in evidence.subject.keys:
        expected, found = (run.objects.get(key) for run in (broken.reference, broken.recording))
        if expected is not None and found is not None:
            said += [f"{key}: {change}" for change in changes(settled(expected), settled(found))]
        elif expected is not None or found is not None:
            said.append(f"{key} is {'missing' if found is None else 'left over'}")
    return said[:_MOST_DIFFERENCES]


def causes(broken: Broken) -> list[str]:
    """Why: what was found out by running neighbours of the plan, and the lines of the read and of the write."""
    evidence = Evidence(broken)
    said = list(broken.why)
    read, write = evidence.decider, evidence.offender
    if read is not None and read.line:
        old = f", v{read.seen} where v{read.true} was true" if read.seen < read.true and not read.live else ""
        nothing = ", after which there was nothing to do" if write is None else ""
        said.append(f"read: {read.resource} {read.name or '(list)'}{old} at {read.line}{nothing}")
    if write is not None and write.line:
        said.append(f"written: {write.verb} {write.key} at {write.line}")
    elif broken.refutation.finding.line:
        said.append(f"at {broken.refutation.finding.line}")
    return said


# the trace


def _trace(told: Trace, width: int) -> Iterator[Line]:
    lanes = told.lanes
    several = len(told.processes) > 1
    runs = len({row.run for row in told.all_rows if row.run})
    before: tuple[str, str, int] | None = None
    shown: list[tuple[Row, dict[Lane, str]]] = []
    for row in told.rows:
        cells = dict(row.cells)
        if "controller" in cells:
            here = (row.process, row.run, row.nth)
            cells["controller"] = _controller(row, cells["controller"], several, runs, begins=here != before)
            before = here
        if row.times > 1:
            cells["store"] = f"{cells.get('store', '')}  ... and so on, {row.times} times"
        if row.mark == "divergence":
            cells["store"] = f"{cells.get('store', '')}  <- the reference goes another way from here"
        shown.append((row, cells))
    widths = _widths(lanes, [cells for _, cells in shown], width - 10 - 2 * len(lanes))
    if otherwise := workload_in_words(told.plan):
        yield Line(f"Workload: {otherwise} ({told.plan.variant})")
    if told.plan.seed:
        yield Line(f"Order of events: that of seed {told.plan.seed}")
    yield Line(f"Trace  ({_count(len(told.rows), 'line')} of {len(told.all_rows)})", "heading")
    yield from _columns([("t", 8), *((_header(lane), widths[lane]) for lane in lanes)], "dim")
    for row, cells in shown:
        style = _MARKS.get(row.mark, "")
        mark = {"decision": "** ", "finding": "=> "}.get(row.mark, "")
        if "\n" in cells.get("controller", ""):  # what came of it stands beside what was done, and not beside the heading
            above = "\n" * len(_fold(cells["controller"].partition("\n")[0], widths["controller"]))
            cells = {lane: text if lane == "controller" else above + text for lane, text in cells.items()}
        texts = [(f"{mark}{row.wide}", width - 12)] if row.wide else [(cells.get(lane, ""), widths[lane]) for lane in lanes]
        yield from _columns([(clock(row.at), 8), *texts], style)
    if (missing := told.diverges.missing) is not None and told.diverges.here is None:
        change = "is deleted" if missing.deleted else "is made" if missing.before is None else "is changed"
        text = f"In the reference, {told.names.key(missing.key)} {change} next (v{missing.revision}); here it never is."
        yield from _wrapped(text, width, "divergence")


def _controller(row: Row, text: str, several: bool, runs: int, *, begins: bool) -> str:
    """What the controller did, with its line; where a run begins, that is said above it: `p2 run 3 of webapp default/shop`."""
    text = f"{text}  {row.line}" if row.line else text
    process = f"{row.process} " if several else ""
    if not row.run:
        return process + text
    whose = f" of {row.run}" if runs > 1 or row.nth == 1 else ""
    return (f"{process}run {row.nth}{whose}\n" if begins else "") + f"  {text}"


def _widths(lanes: Sequence[Lane], rows: Sequence[dict[Lane, str]], room: int) -> dict[Lane, int]:
    """How wide each lane is: as wide as what is in it, if there is room for all; else narrow ones are, and the others share the rest."""
    natural = {lane: max(len(part) for cells in rows for part in [_header(lane), *cells.get(lane, "").split("\n")]) for lane in lanes}
    widths: dict[Lane, int] = {}
    for lane in sorted(lanes, key=natural.__getitem__):
        fair = (room - sum(widths.values())) // (len(lanes) - len(widths))
        widths[lane] = min(natural[lane], max(fair, 12))
    return widths


def _header(lane: Lane) -> str:
    return "cache saw" if lane == "cache" else lane


def _columns(cells: Sequence[tuple[str, int]], style: Style) -> Iterator[Line]:
    """Cells beside each other, each wrapped to its width."""
    wrapped = [[part for text in cell.split("\n") for part in _fold(text, width)] for cell, width in cells]
    for index in range(max(map(len, wrapped))):
        parts = [(each[index] if index < len(each) else "").ljust(width) for each, (_, width) in zip(wrapped, cells, strict=True)]
        yield Line(("  " + "  ".join(parts)).rstrip(), style)


def _fold(text: str, width: int) -> list[str]:
    indent = text[: len(text) - len(text.lstrip())]
    return textwrap.wrap(text, width, subsequent_indent=f"{indent}  ", break_on_hyphens=False) or [""]


# the rest


def _warnings(report: Report, width: int) -> Iterator[Line]:
    for finding in report.warnings:
        yield from _wrapped(f"warning: {finding.sentence}{f' ({finding.line})' if finding.line else ''}", width, "unsure")
    for reason, count in report.waived:
        use = f"applied {_count(count, 'time')}" if count else "of no use any more: what it waives did not come up; take it away"
        yield from _wrapped(f"waiver ({reason}): {use}", width, "" if count else "unsure")


def _coverage(report: Report, width: int) -> Iterator[Line]:
    if report.coverage:
        yield Line("")
        yield Line("Covered", "heading")
        widest = max(len(covered.name) for covered in report.coverage)
        longest = max(len(covered.fault) for covered in report.coverage)
        untried = [covered for covered in report.coverage if not (covered.tried or covered.cuts or covered.skipped)]
        for covered in report.coverage:
            if covered in untried:
                continue
            head = f"{covered.fault:<{longest}}  {covered.name:<{widest}} {covered.tried or '-':>6}  "
            yield from _hanging(head, "; ".join(cuts(covered)), width, "dim" if covered.skipped else "")
        if untried:
            yield from _hanging("not tried: ", ", ".join(f"{covered.fault} {covered.name}" for covered in untried), width, "dim")
    if report.bound and report.verdict != "HELD":
        yield from _wrapped(f"Bound: {report.bound}", width)
    yield from _wrapped(f"{bound_of(report)}{_seeds(report.seeds)}", width, "dim")
    if assumptions := report.case.assumptions.declared:
        yield from _wrapped(f"Assumed: {'; '.join(assumptions)}", width)
    if report.notes:
        yield Line("Not checked", "heading")
        yield from (line for note in report.notes for line in _wrapped(f"- {note}", width, indent="  "))


def cuts(covered: Covered) -> list[str]:
    """What was left out of a fault class, and why."""
    skipped = [f"skipped: {covered.skipped}"] if covered.skipped else []
    return skipped + [f"{count} left out: {reason}" for reason, count in covered.cuts.items()]


def _seeds(seeds: Iterable[int]) -> str:
    told = ", ".join(map(str, seeds))
    return f", seeds {told}" if told else ""


def _hanging(head: str, text: str, width: int, style: Style = "") -> Iterator[Line]:
    room = max(width - len(head) - 2, 20)
    for index, part in enumerate(textwrap.wrap(text, room) or [""]):
        yield Line(("  " + (head if index == 0 else " " * len(head)) + part).rstrip(), style)


def _wrapped(text: str, width: int, style: Style = "", indent: str = "", hang: str = "  ") -> Iterator[Line]:
    own = text[: len(text) - len(text.lstrip())]
    for part in textwrap.wrap(
        text.strip(),
        width,
        initial_indent=indent + own,
        subsequent_indent=indent + own + hang,
        break_long_words=False,
        break_on_hyphens=False,
    ):
        yield Line(part, style)


def _count(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
