"""The table that people read, and the sentences below it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table

from benchmarks.figures import Spread, as_ratio, number, ratio
from benchmarks.workload import Outcome, Row

HEADINGS = ("work", "unit", "Setpoint", "peer", "", "ratio", "goal", "")


def show(console: Console, outcomes: Sequence[Outcome]) -> None:
    """Prints the table of all outcomes, and what is not in it and why."""
    table = Table(*HEADINGS)
    for heading in ("Setpoint", "peer", "ratio", "goal"):
        table.columns[HEADINGS.index(heading)].justify = "right"
    for outcome in outcomes:
        table.add_section()
        table.add_row(f"[bold]{outcome.workload.name}[/bold]: {outcome.workload.about}, {outcome.objects:,} {outcome.workload.of}")
        for row in outcome.workload.rows:
            if outcome.spread(row.ours, row.figure) is not None:
                table.add_row(*cells(outcome, row))
    console.print(table)
    for sentence in remarks(outcomes):
        console.print(sentence, markup=False, soft_wrap=True)


def cells(outcome: Outcome, row: Row) -> tuple[str, ...]:
    """One line, in the order of `HEADINGS`; the side of ours is named where it is not simply Setpoint."""
    ours, peer = outcome.spread(row.ours, row.figure), outcome.spread(row.peer, row.figure)
    assert ours is not None
    found = None if peer is None else ratio(ours.median, peer.median)
    met = row.goal.is_met(ours.median, peer.median if peer else None) if row.goal else None
    variant = row.ours.removeprefix("setpoint").lstrip(", ")
    return (
        f"{row.what}, {variant}" if variant else row.what,
        row.unit,
        figure(ours),
        "" if peer is None else figure(peer),
        row.peer or "",
        "" if found is None else as_ratio(found),
        str(row.goal or ""),
        {None: "", True: "met", False: "short"}[met],
    )


def figure(spread: Spread) -> str:
    """The median, with the smallest and the largest."""
    if spread.least == spread.most:
        return number(spread.median)
    return f"{number(spread.median)} ({number(spread.least)} to {number(spread.most)})"


def remarks(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """What is missing or has failed, each reason once for a workload, and how many goals are met."""
    for outcome in outcomes:
        for kind, why in (("left out", outcome.missing), ("failed", outcome.failed)):
            for reason in dict.fromkeys(why.values()):
                yield f"{outcome.workload.name}: {kind}: {', '.join(side for side in why if why[side] == reason)}: {reason}"
    verdicts = [verdict for outcome in outcomes for row in outcome.workload.rows if (verdict := judged(outcome, row)) is not None]
    if verdicts:
        yield f"{sum(verdicts)} of {len(verdicts)} goals met"


def judged(outcome: Outcome, row: Row) -> bool | None:
    """Whether the goal of a row is met; None where there is none, or where it cannot be said."""
    ours, peer = outcome.spread(row.ours, row.figure), outcome.spread(row.peer, row.figure)
    if row.goal is None or ours is None:
        return None
    return row.goal.is_met(ours.median, peer.median if peer else None)
