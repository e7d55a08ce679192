"""Checking the mutants, each under its guard's row: `python -m tests.levelcheck.corpus.mutated [PREFIX ...] [--told]`.

A prefix is of what a mutant is told as, such as `g09` or `g09_prune: nothing`. A mutant is killed where it is refuted, or depends on the
path; one that survives is explained in SURVIVORS.md.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.levelcheck.corpus.checked import row
from tests.levelcheck.corpus.mutants import MUTANTS, Mutant

from setpoint.levelcheck.check import level_check
from setpoint.levelcheck.outcome import Report


def check_mutant(mutant: Mutant, **options) -> Report:
    """The report on a mutant. It is put in a package of its own, so that no two of a guard are taken for one another."""
    of = row("guards", mutant.guard)
    declared = {
        "outside": of.outside,
        "environment": of.environment,
        "invariants": of.invariants,
        "roles": of.roles,
        "waivers": of.waivers,
        "periodic": of.periodic,
        "assumptions": of.assumptions,
        "leaders": of.leaders,
        "depth": of.depth,
    }
    with _written(mutant) as target:
        return level_check(target, of.workload, **(declared | options))


def is_killed(report: Report) -> bool:
    """Whether a report says that the mutant is wrong."""
    return report.verdict in ("REFUTED", "PATH-DEPENDENT")


@contextmanager
def _written(mutant: Mutant) -> Iterator[str]:
    """The target by which the mutant can be imported, for as long as the context is open."""
    package = f"mutant_{MUTANTS.index(mutant)}"
    before = dict(sys.modules)
    with TemporaryDirectory() as folder:
        (Path(folder) / package).mkdir()
        mutant.write(Path(folder) / package)
        sys.path.insert(0, folder)
        try:
            yield f"{package}.{mutant.guard}.fixed"
        finally:
            sys.path.remove(folder)
            for name in [name for name in sys.modules if name.startswith(package) and name not in before]:
                del sys.modules[name]


def _told(mutant: Mutant, report: Report, *, full: bool) -> str:
    killed = is_killed(report)
    lines = [
        f"{'killed  ' if killed else 'SURVIVED'} {mutant}: {report.verdict} {report.inconclusive[:300]}",
        f"      {report.runs} runs, {report.seconds:.1f} s; thought to be shown by {', '.join(mutant.shown_by)}",
    ]
    for broken in report.broken[: 4 if full else 1]:
        refutation = broken.refutation
        lines += [f"      {refutation.plan}", f"        {refutation.finding.oracle}: {refutation.finding.sentence[:300]}"]
    if not killed:
        lines += [f"      warning {warning.oracle}: {warning.sentence[:200]}" for warning in report.warnings[:3]]
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    prefixes = tuple(each for each in arguments if not each.startswith("--"))
    killed = survived = 0
    for mutant in MUTANTS:
        if prefixes and not str(mutant).startswith(prefixes):
            continue
        report = check_mutant(mutant)
        killed += is_killed(report)
        survived += not is_killed(report)
        print(_told(mutant, report, full="--told" in arguments))
        sys.stdout.flush()
    print(f"{killed} killed, {survived} survived")


if __name__ == "__main__":
    main(sys.argv[1:])
