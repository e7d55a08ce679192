"""The command line: which workloads, how often, how large; a bar while they run, the table at the end.

    python -m benchmarks [--only NAME ...] [--rounds 5] [--objects N] [--quick] [--json FILE] [--list]

Each workload is run in rounds, in which its sides take turns. What is missing on this machine is left out, and said; who stops it sees what
is done. Returns 0, or 1 where something failed or is not done: a goal that is not met is a figure, no failure.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.keeping import keep
from benchmarks.servers import Servers
from benchmarks.table import show
from benchmarks.workload import Outcome, Setting, Workload, carry_out
from benchmarks.workloads import WORKLOADS


def parser() -> argparse.ArgumentParser:
    """What can be said on the command line."""
    made = argparse.ArgumentParser(prog="python -m benchmarks", description="What Setpoint costs beside its peers, as one table.")
    made.add_argument("--only", nargs="+", metavar="NAME", help="these workloads; --list shows all")
    made.add_argument("--rounds", type=_count, help="how often each is measured (5; with --quick 1)")
    made.add_argument("--objects", type=_count, metavar="N", help="objects of each workload, instead of its own number")
    made.add_argument("--quick", action="store_true", help="one round with few objects: does everything work here?")
    made.add_argument("--json", type=Path, metavar="FILE", help="keep all figures in this file")
    made.add_argument("--list", action="store_true", help="show the workloads, and do nothing")
    return made


def main(words: Sequence[str] | None = None, *, console: Console | None = None, servers: Servers | None = None) -> int:
    """Does what the words ask for, those of the command line if there are none. Raises `SystemExit` for words that make no sense."""
    console = console or Console()
    reading = parser()
    asked = reading.parse_args(words)
    chosen = _chosen(reading, asked.only)
    if asked.json is not None and not asked.json.absolute().parent.is_dir():
        reading.error(f"argument --json: there is no folder {asked.json.absolute().parent}")
    if asked.list:
        for workload in chosen:
            console.print(f"{workload.name:18} {workload.about}, {workload.objects:,} {workload.of}", markup=False)
        return 0
    rounds = asked.rounds or (1 if asked.quick else 5)
    objects = [asked.objects or (workload.quick if asked.quick else workload.objects) for workload in chosen]
    outcomes: list[Outcome] = []
    try:
        for outcome in _run(chosen, objects, rounds, console, servers or Servers()):
            outcomes.append(outcome)
            if asked.json is not None:
                keep(asked.json, outcomes, rounds)
    except KeyboardInterrupt:
        console.print(f"stopped: {len(outcomes)} of {len(chosen)} workloads are done")
    show(console, outcomes)
    if asked.quick:
        console.print("--quick shows that everything works here; its figures, and so its goals, say little")
    return 1 if len(outcomes) < len(chosen) or any(outcome.failed for outcome in outcomes) else 0


def _run(chosen: Sequence[Workload], objects: Sequence[int], rounds: int, console: Console, servers: Servers) -> Iterator[Outcome]:
    """The outcome of each, as soon as it is there."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with servers, Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task("", total=sum(rounds * len(workload.sides) for workload in chosen))
        done = 0
        for workload, count in zip(chosen, objects, strict=True):

            def say(side: str, workload: Workload = workload) -> None:
                progress.update(bar, description=f"{workload.name}: {side}")

            yield carry_out(workload, Setting(servers, count), rounds, say, partial(progress.advance, bar))
            done += rounds * len(workload.sides)
            progress.update(bar, completed=done)


def _chosen(reading: argparse.ArgumentParser, names: Sequence[str] | None) -> list[Workload]:
    """Those that are named, in the order of the list; all, where none is."""
    if names is None:
        return list(WORKLOADS.values())
    if unknown := [name for name in names if name not in WORKLOADS]:
        reading.error(f"argument --only: there is no workload {', '.join(unknown)}; there are: {', '.join(WORKLOADS)}")
    return [workload for name, workload in WORKLOADS.items() if name in names]


def _count(text: str) -> int:
    """A whole number from 1 on."""
    if not text.isdecimal() or not (value := int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return value
