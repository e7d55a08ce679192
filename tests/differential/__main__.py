"""The command line: `python -m tests.differential --help`."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from .hunt import Findings, hunt
from .machine import Field
from .record import record_broad
from .servers import EmbeddedServer, RealServer


def main() -> None:
    """Compares the two servers."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.differential", description="Compares the embedded API server with a real kube-apiserver."
    )
    parser.add_argument("--kubeconfig", type=Path, required=True, help="of a real kube-apiserver without controllers")
    parser.add_argument("--operations", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--enough", type=int, default=200)
    parser.add_argument("--survey", action="store_true", help="go on after a difference, and report each sort at the end")
    parser.add_argument("--record", action="store_true", help="record one sequence for each kind as goldens, and do nothing else")
    parser.add_argument("--keep", action="store_true", help="with --survey: make what was found small, and keep it as goldens")
    parser.add_argument("--sort", action="append", default=[], help="only this class of kind")
    arguments = parser.parse_args()
    common = Field(
        RealServer(arguments.kubeconfig), EmbeddedServer(), prefix=f"d{(int(time.time()) + arguments.seed * 1_000_003) % 10_000_000:07d}"
    )
    common.define()
    if arguments.record:
        print("\n".join(record_broad(common)))
        return
    findings = Findings()
    if arguments.survey:
        common.found = findings
    began = time.monotonic()
    try:
        hunt(
            common,
            operations=arguments.operations,
            seed=arguments.seed,
            enough=0 if arguments.sort else arguments.enough,
            shrink=not arguments.survey,
            sorts=tuple(arguments.sort),
        )
    finally:
        print(findings.report())
        if arguments.keep:
            print("\n".join(f"kept {path}" for path in findings.keep(common)))
        print(common.coverage.table())
        print(
            f"{common.coverage.asked} operations in {time.monotonic() - began:.0f} s; waived: {dict(common.coverage.waived) or 'nothing'}"
        )


if __name__ == "__main__":
    main()
