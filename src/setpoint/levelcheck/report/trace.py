"""The trace of a finding: the few rows that tell it.

They are the decisions, what the user did, the writes and stale reads that have to do with the object of the finding from a little before
the first decision on, the first divergence from the reference, and the finding. What repeats itself is told twice, and then counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from setpoint.levelcheck.finding import Finding
from setpoint.levelcheck.outcome import Broken
from setpoint.levelcheck.plan import Plan
from setpoint.levelcheck.recording import Changed
from setpoint.levelcheck.report.divergence import Divergence, divergence
from setpoint.levelcheck.report.rows import ALWAYS, LANES, Lane, Row, rows_of
from setpoint.levelcheck.report.subject import Names, Subject, subject_of

SHORT = 12
"""So many rows a person reads with pleasure."""
_BEFORE = 30
"""How much less a row weighs that is over before anything goes wrong."""


@dataclass(frozen=True, kw_only=True)
class Trace:
    """`rows` tell the finding; `all_rows` are all of that run, and `reference` those of the run that it is compared with."""

    rows: tuple[Row, ...]
    all_rows: tuple[Row, ...]
    reference: tuple[Row, ...]
    diverges: Divergence
    subject: Subject
    names: Names
    plan: Plan

    @property
    def lanes(self) -> tuple[Lane, ...]:
        """The lanes that have something in them."""
        return tuple(lane for lane in LANES if any(lane in row.cells for row in self.rows))

    @property
    def processes(self) -> tuple[str, ...]:
        """The controller's processes that these rows tell of, in the order in which they come."""
        return tuple(dict.fromkeys(row.process for row in self.rows if "controller" in row.cells))


def trace(broken: Broken, limit: int = SHORT) -> Trace:
    """The trace, of at most so many rows, but never without its decisions and the finding."""
    finding = broken.refutation.finding
    subject = subject_of(finding, broken.recording, broken.reference)
    names = Names(broken.recording, broken.reference)
    diverges = divergence(broken.recording, broken.reference)
    marked = [_marked(row, diverges.here) for row in rows_of(broken.recording, subject, names, finding)]
    rows = _once(marked)
    return Trace(
        rows=tuple(_chosen(rows, limit)),
        all_rows=tuple(rows),
        reference=tuple(_once(rows_of(broken.reference, subject, names, _without_sentence(finding))[:-1])),
        diverges=diverges,
        subject=subject,
        names=names,
        plan=broken.recording.plan,
    )


def _chosen(rows: list[Row], limit: int) -> list[Row]:
    """The weightiest rows, in their order. Of those before the first decision's run, the nearest weigh most."""
    begins = _beginning(rows)
    weights: dict[int, tuple[int, int]] = {}
    for index, row in enumerate(rows):
        early = index < begins and "user" not in row.cells
        weights[index] = (row.weight - _BEFORE if early else row.weight, -abs(index - begins))
    must = [index for index, row in enumerate(rows) if row.weight >= ALWAYS or row.mark]
    others = sorted((index for index in weights if index not in must and weights[index][0] > 25), key=weights.__getitem__, reverse=True)
    return [rows[index] for index in sorted([*must, *others[: max(limit - len(must), 0)]])]


def _beginning(rows: list[Row]) -> int:
    """The row with which the run begins in which the first decision falls; 0 where nothing goes wrong."""
    first = next((index for index, row in enumerate(rows) if row.mark == "decision"), 0)
    for index in range(first - 1, -1, -1):
        if rows[index].run:
            run = (rows[index].process, rows[index].run, rows[index].nth)
            return next(at for at, row in enumerate(rows) if (row.process, row.run, row.nth) == run)
    return first


def _marked(row: Row, here: Changed | None) -> Row:
    if here is None or row.mark or row.revision != here.revision:
        return row
    return msgspec.structs.replace(row, mark="divergence", weight=max(row.weight, ALWAYS))


def _once(rows: list[Row]) -> list[Row]:
    seen: dict[tuple[object, ...], list[int]] = {}
    kept: list[Row | None] = list(rows)
    for index, row in enumerate(rows):
        if row.mark or row.key is None or "user" in row.cells:
            continue
        places = seen.setdefault(_kind(row), [])
        places.append(index)
    for places in seen.values():
        if len(places) > 6:
            kept[places[1]] = msgspec.structs.replace(rows[places[1]], times=len(places) - 1)
            for place in places[2:]:
                kept[place] = None
    return [row for row in kept if row is not None]


def _kind(row: Row) -> tuple[object, ...]:
    return (row.process, row.key, row.cells.get("controller", ""), row.line, bool(row.cells.get("store")))


def _without_sentence(finding: Finding) -> Finding:
    return msgspec.structs.replace(finding, at=0.0, revision=0)
