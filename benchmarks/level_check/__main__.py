"""What a check costs: runs, CPU seconds, milliseconds for a run, and where the time goes.

``python -m benchmarks.level_check [--depth N] [--shops N] [--profile | --json]``: a controller of five kinds and about thirty effective
writes. CPU is that of all processes of the check; on a machine with one free core that is the time one waits.
"""

import argparse
import cProfile
import gc
import json
import logging
import os
import pstats
import sys
import time

from benchmarks.level_check.shops import workload, workload_of
from setpoint.levelcheck.check import case_of, level_check, programs
from setpoint.levelcheck.plan import Plan
from setpoint.levelcheck.run.execution import Execution

TARGET = "benchmarks.level_check.shops:controller"


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--depth", type=int, default=1)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--json", action="store_true", help="the figures alone, as one line of JSON")
    parser.add_argument("--shops", type=int, default=3, help="how many there are, 1 to 3")
    asked = parser.parse_args()
    if asked.profile:
        profile()
        return
    report = level_check(TARGET, workload_of(asked.shops), depth=asked.depth)
    if asked.json:
        print(json.dumps({"runs": report.runs, "seconds": report.seconds}))
        return
    assert report.reference is not None
    writes = [wrote for wrote in report.reference.writes if wrote.revision]
    print(f"{report.verdict} {report.inconclusive}: {len(writes)} effective writes, {report.reference.runs} reconciler runs")
    print(f"{report.runs} runs, {report.seconds:.1f} s of CPU, {1000 * report.seconds / report.runs:.1f} ms for a run")
    for broken in report.broken:
        print(broken.refutation.plan, broken.refutation.finding.sentence)
    for covered in report.coverage:
        print(f"  {covered.fault:6} {covered.name:32} {covered.tried:5} {sum(covered.cuts.values()) or ''} {covered.skipped}")


def profile() -> None:
    """Where one run's time goes, from an empty cluster to its end."""
    logging.disable(logging.CRITICAL)
    gc.disable()
    case = case_of(TARGET, workload)
    kept = []
    with programs(case) as loaders:
        for _ in range(3):
            kept.append(execution := Execution(case, Plan(), workload, loaders))
            began = time.process_time()
            execution.run()
            print(f"{1000 * (time.process_time() - began):.0f} ms")
        profiler = cProfile.Profile()
        kept.append(execution := Execution(case, Plan(), workload, loaders))
        profiler.runcall(execution.run)
        pstats.Stats(profiler).sort_stats("tottime").print_stats(40)
        pstats.Stats(profiler).sort_stats("cumulative").print_stats(60)
    sys.stdout.flush()
    os._exit(0)  # simulated processes must not come to their `finally` blocks


if __name__ == "__main__":
    main()
