"""Whether both modes agree, by hand: `python -m tests.levelcheck.corpus.forked [NAME ...]`.

Each refutation that the fast mode tells of the buggy half is replayed with operating system processes, which are killed: it must be found
there, too. The corrected half must hold without faults there, and under the same decisions where it comes to their places.
"""

import sys

from tests.levelcheck.corpus.checked import HERE, check, declared, folders, row, target

from setpoint.levelcheck import SiteGone
from setpoint.levelcheck.check import level_check, replay


def disagreements(group: str, name: str) -> tuple[list[str], int]:
    """Where the modes differ about a folder, in words, and how many runs were compared."""
    of = row(group, name)
    forked = declared(of) | {"mode": "fork"}
    said, compared = [], 0
    tokens = []
    if (HERE / group / name / "buggy.py").exists():
        for broken in check(group, name, "buggy").broken:
            tokens.append(broken.token)
            found = replay(target(group, name, "buggy"), of.workload, token=broken.token, **forked)
            compared += 1
            wanted = broken.refutation.finding
            told = [] if found is None else [found.refutation.finding, *found.refutation.beside]
            if wanted.signature not in [each.signature for each in told]:
                said.append(f"buggy, {broken.refutation.plan}: {wanted.sentence}; forked: {[each.sentence for each in told] or 'nothing'}")
    report = level_check(target(group, name, "fixed"), of.workload, depth=0, **forked)
    compared += 1
    if report.verdict != "HELD":
        said.append(f"fixed: {report.verdict} {report.inconclusive} {[each.refutation.finding.sentence for each in report.broken]}")
    for token in tokens:
        try:
            found = replay(target(group, name, "fixed"), of.workload, token=token, **forked)
        except SiteGone:
            continue
        compared += 1
        if found is not None:
            said.append(f"fixed, {found.refutation.plan}: {found.refutation.finding.sentence}")
    return said, compared


def main(names):
    for group, name in folders():
        if names and not any(name.startswith(each) or group == each for each in names):
            continue
        try:
            said, compared = disagreements(group, name)
        except Exception as error:
            said, compared = [f"{type(error).__name__}: {error}"], 0
        print(f"{'BAD' if said else 'ok '} {name}: {compared} runs compared")
        for each in said:
            print(f"      {each[:500]}")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
