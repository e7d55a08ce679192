"""A report as one page of HTML, which needs nothing beside itself: no network, no script.

Of each refutation it shows the run in lanes (user, each process of the controller, outside, store, cache), and beside it the run of the
reference, line by line as far as they are alike. Decisions and the first divergence are marked, a write opens to show what it changed, and
lines that have little to do with the finding are folded away until they are asked for.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from html import escape

import yaml

from setpoint.levelcheck.outcome import Broken, Report
from setpoint.levelcheck.report.changes import decoded, plain
from setpoint.levelcheck.report.decisions import workload_in_words
from setpoint.levelcheck.report.page_style import STYLE
from setpoint.levelcheck.report.rows import LANES, Lane, Row
from setpoint.levelcheck.report.suggestion import suggestion
from setpoint.levelcheck.report.text import (
    bound_of,
    causes,
    clock,
    command_of,
    cuts,
    difference,
    headline,
    manner,
    replay_command,
    sentence_of,
)
from setpoint.levelcheck.report.trace import Trace, trace

MOST_ROWS = 400
"""So many lines of a run are on the page, at most; of more, those that have little to do with the finding are left out."""
_TELLING = 40
"""Lines of the reference of this weight or more are shown at once."""
_LANES: dict[Lane, str] = {"user": "user", "controller": "controller", "outside": "outside", "store": "store", "cache": "cache saw"}


def page(report: Report, command: str = "") -> str:
    """The report as a page. `command` is what checks this again: `setpoint check` and the report's name, if nothing else is said."""
    return "".join(_page(report, command or command_of(report)))


def _page(report: Report, command: str) -> Iterator[str]:
    title = escape(headline(report))
    yield '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    yield "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    yield f"<title>{title}</title><style>{STYLE}</style></head><body>\n"
    yield f'<header class="{report.verdict.lower()}"><p class="verdict">{report.verdict}</p><h1>{escape(_saying(report))}</h1>'
    yield f'<p class="dim">{escape(report.name)}: {escape(bound_of(report))}</p></header>\n'
    for number, broken in enumerate(report.broken, 1):
        yield from _refutation(report, broken, number, command)
    yield from _rest(report)
    yield "</body></html>\n"


def _saying(report: Report) -> str:
    """What the verdict says, without its word."""
    return headline(report).removeprefix(report.verdict).lstrip(",: ")


def _refutation(report: Report, broken: Broken, number: int, command: str) -> Iterator[str]:
    told = trace(broken)
    title = f"{manner(broken)}: {sentence_of(broken)}" if len(report.broken) > 1 else "What happens"
    yield f"<section><h2>{escape(title)}</h2>"
    yield f'<p><code class="command">{escape(replay_command(command, broken))}</code></p>'
    if otherwise := workload_in_words(told.plan):
        yield f"<p>Workload: {escape(otherwise)} ({escape(told.plan.variant)})</p>"
    yield f'<input type="checkbox" id="all{number}" class="all"><label for="all{number}">show every line</label>'
    yield from _timeline(told)
    yield '<div class="facts">'
    yield from _list("Difference", difference(broken), pre=True)
    yield from _list("Why", causes(broken))
    yield from _list("Suggestion", [suggestion(broken)])
    yield from _list("Beside it", [finding.sentence for finding in broken.refutation.beside])
    yield "</div></section>\n"


# the timeline


def _timeline(told: Trace) -> Iterator[str]:
    """Both runs in one table, so that what is alike stands side by side."""
    ours, theirs = _kept(told.all_rows), _kept(told.reference)
    processes = list(dict.fromkeys(row.process for row in ours if "controller" in row.cells)) or ["p1"]
    left = list(_columns(ours, processes))
    right = list(_columns(theirs, ["p1"]))
    yield '<div class="scroll"><table class="timeline"><thead><tr>'
    yield f'<th colspan="{len(left) + 1}">this run</th><th class="other" colspan="{len(right) + 1}">the reference</th></tr><tr><th>t</th>'
    yield "".join(f"<th>{escape(name)}</th>" for _, _, name in left)
    yield '<th class="other">t</th>' + "".join(f"<th>{escape(name.removesuffix(' p1'))}</th>" for _, _, name in right)
    yield "</tr></thead><tbody>\n"
    shown = {id(row) for row in told.rows}
    missing = told.diverges.missing.revision if told.diverges.missing else None
    for mine, other in _beside(ours, theirs):
        matters = (mine is not None and id(mine) in shown) or (mine is None and other is not None and other.weight >= _TELLING)
        never = mine is None and other is not None and other.revision == missing
        marks = [*([mine.mark] if mine and mine.mark else []), *(["missing"] if never else []), *([] if matters or never else ["minor"])]
        yield f'<tr class="{" ".join(marks)}">' if marks else "<tr>"
        yield from _half(mine, left)
        yield from _half(other, right, other=True)
        yield "</tr>\n"
    yield "</tbody></table></div>"
    if len(told.all_rows) > len(ours):
        yield f'<p class="dim">{len(told.all_rows) - len(ours)} lines of little weight are left out.</p>'


def _columns(rows: Sequence[Row], processes: Sequence[str]) -> Iterator[tuple[Lane, str, str]]:
    """Lane, process (or empty) and heading of each column that has something in it."""
    for lane in LANES:
        if lane == "controller":
            yield from ((lane, process, f"controller {process}") for process in processes)
        elif any(lane in row.cells for row in rows):
            yield lane, "", _LANES[lane]


def _half(row: Row | None, columns: Sequence[tuple[Lane, str, str]], *, other: bool = False) -> Iterator[str]:
    side = ' class="other"' if other else ""
    if row is None:
        yield f'<td{side}></td><td class="none" colspan="{len(columns)}"></td>'
        return
    yield f"<td{side}>{clock(row.at)}</td>"
    if row.wide:
        yield f'<td class="wide" colspan="{len(columns)}">{escape(row.wide)}</td>'
        return
    for lane, process, _ in columns:
        text = row.cells.get(lane, "") if not process or process == row.process or other else ""
        yield f'<td class="{lane}">{_cell(row, lane, text)}</td>'


def _cell(row: Row, lane: Lane, text: str) -> str:
    if not text:
        return ""
    said = escape(text)
    if lane == "controller" and row.run:
        said = f'<span class="dim">{escape(row.run)} #{row.nth}</span><br>{said}'
    if lane == "controller" and row.line:
        said += f'<br><span class="dim">{escape(row.line)}</span>'
    if lane == "store" and row.times > 1:
        said += f" <b>and so on, {row.times} times</b>"
    if lane == "store" and row.revision:
        return f"<details><summary>{said}</summary><pre>{_diff(row)}</pre></details>"
    return said


def _diff(row: Row) -> str:
    """Both states as YAML, line by line, what is removed and added marked."""
    before, after = (_yaml(state) for state in (row.before, row.after))
    lines = difflib.unified_diff(before, after, lineterm="", n=3)
    classes = {"-": "removed", "+": "added", "@": "dim"}
    told = [f'<span class="{classes.get(line[0], "")}">{escape(line)}</span>' for line in list(lines)[2:] if line]
    return "\n".join(told) or "nothing but bookkeeping"


def _yaml(state: bytes | None) -> list[str]:
    return [] if state is None else yaml.safe_dump(plain(decoded(state)), sort_keys=False).splitlines()


def _beside(ours: Sequence[Row], theirs: Sequence[Row]) -> Iterator[tuple[Row | None, Row | None]]:
    """Rows of both runs that say the same beside each other, and the others alone."""
    mine, other = ([_likeness(row) for row in rows] for rows in (ours, theirs))
    for what, a, b, c, d in difflib.SequenceMatcher(None, mine, other, autojunk=False).get_opcodes():
        if what == "equal":
            yield from zip(ours[a:b], theirs[c:d], strict=True)
        else:
            yield from ((row, None) for row in ours[a:b])
            yield from ((None, row) for row in theirs[c:d])


def _likeness(row: Row) -> tuple[object, ...]:
    return (row.wide, row.run, row.line, *(re.sub(r"\bv\d+\b", "v", f"{lane} {text}") for lane, text in row.cells.items()))


def _kept(rows: Sequence[Row]) -> list[Row]:
    """The weightiest rows, as many as a page can bear, in their order."""
    if len(rows) <= MOST_ROWS:
        return list(rows)
    heaviest = sorted(range(len(rows)), key=lambda index: (-rows[index].weight, index))[:MOST_ROWS]
    return [rows[index] for index in sorted(heaviest)]


# the rest


def _rest(report: Report) -> Iterator[str]:
    yield "<section><h2>How far this goes</h2>"
    yield f"<p>{escape(report.bound)}</p>" if report.bound else ""
    if report.coverage:
        yield '<table class="covered"><thead><tr><th>class</th><th></th><th>tried</th><th>left out, and why</th></tr></thead><tbody>'
        for covered in report.coverage:
            cells = (covered.fault, covered.name, str(covered.tried), "; ".join(cuts(covered)))
            yield "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
        yield "</tbody></table>"
    yield '<div class="facts">'
    yield from _list("Assumed", report.case.assumptions.declared)
    yield from _list("Warnings", [f"{finding.sentence} {finding.line}".strip() for finding in report.warnings])
    yield from _list(
        "Waivers", [f"{reason}: {f'applied {count} times' if count else 'of no use any more'}" for reason, count in report.waived]
    )
    yield from _list("Not checked", report.notes)
    yield "</div></section>\n"


def _list(title: str, texts: Sequence[str], *, pre: bool = False) -> Iterator[str]:
    said = [text for text in texts if text]
    if not said:
        return
    yield f"<div><h3>{title}</h3>"
    yield f"<pre>{escape(chr(10).join(said))}</pre>" if pre else "".join(f"<p>{escape(text)}</p>" for text in said)
    yield "</div>"
