"""Checking rows of the corpus, by hand and for the tests: `python -m tests.levelcheck.corpus.checked [NAME ...] [--fixed|--buggy]`."""

import importlib
import sys
from pathlib import Path

from setpoint.levelcheck.check import level_check
from setpoint.levelcheck.outcome import Report

HERE = Path(__file__).parent


def folders(*groups):
    """The folders of rows, as (group, name)."""
    found = []
    for group in groups or ("rows", "guards", "isolation"):
        found += [(group, path.parent.name) for path in sorted((HERE / group).glob("*/__init__.py"))]
    return found


def row(group: str, name: str):
    """The `Row` of a folder."""
    return importlib.import_module(f"tests.levelcheck.corpus.{group}.{name}").ROW


def target(group: str, name: str, which: str) -> str:
    """What a folder's `buggy.py` or `fixed.py` has to check: its app, or all its controllers."""
    return f"tests.levelcheck.corpus.{group}.{name}.{which}"


def check(group: str, name: str, which: str, **options) -> Report:
    """The report on one half of a row."""
    of = row(group, name)
    return level_check(target(group, name, which), of.workload, **(declared(of) | {"depth": of.depth} | options))


def declared(of):
    """What a row declares beside its workload."""
    return {
        "outside": of.outside,
        "environment": of.environment,
        "invariants": of.invariants,
        "roles": of.roles,
        "waivers": of.waivers,
        "periodic": of.periodic,
        "assumptions": of.assumptions,
        "leaders": of.leaders,
    }


def expected(of, report: Report) -> bool:
    """Whether a report says of the buggy half what the row expects."""
    return any(_fits(of, broken) for broken in report.broken)


def _fits(of, broken) -> bool:
    refutation = broken.refutation
    classes = {decision.fault for decision in refutation.plan.decisions} or {"F0"}
    classes |= set(refutation.also)
    if refutation.plan.variant.startswith(("recreate", "undone")):
        classes |= {"F14"}
    if refutation.plan.variant and not refutation.plan.decisions:
        classes |= {"F8"}
    oracles = {refutation.finding.oracle, *(finding.oracle for finding in refutation.beside)}
    return bool(classes & set(of.faults) and oracles & set(of.oracles) and len(refutation.plan.decisions) <= max(of.decisions, 1))


def main(arguments):
    names = [each for each in arguments if not each.startswith("--")]
    for group, name in folders():
        if names and not any(name.startswith(each) or group == each for each in names):
            continue
        of = row(group, name)
        for which in ("buggy", "fixed"):
            if f"--{which}" not in arguments and {"--buggy", "--fixed"} & set(arguments):
                continue
            if not (HERE / group / name / f"{which}.py").exists():
                continue
            try:
                report = check(group, name, which)
            except Exception as error:
                print(f"{name} {which}: {type(error).__name__}: {error}")
                continue
            ok = report.verdict == "HELD" if which == "fixed" else report.verdict in ("REFUTED", "PATH-DEPENDENT") and expected(of, report)
            wanted = "" if which == "fixed" else f" (wanted {of.verdict} {','.join(of.faults)} {','.join(of.oracles)})"
            cost = f"{report.runs} runs, {report.seconds:.1f} s"
            print(f"{'ok ' if ok else 'BAD'} {name} {which}: {report.verdict} {report.inconclusive} {cost}{wanted}")
            if not ok or "--told" in arguments:
                for broken in report.broken[:4]:
                    finding = broken.refutation.finding
                    print(f"      {broken.refutation.plan}")
                    print(f"        {finding.oracle}: {finding.sentence[:300]} (and {broken.refutation.others} more)")
                for warning in report.warnings[:3]:
                    print(f"      warning {warning.oracle}: {warning.sentence[:200]}")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
