"""The command line: `python -m tests.differential.customs --help`."""

from __future__ import annotations

import argparse
import json
from itertools import islice
from pathlib import Path

from tests.differential.servers import EmbeddedServer, RealServer

from .hunt import definition_tells, first_difference, made_definitions, shrink, sort_of


def main() -> None:
    """Compares the two servers."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential.customs")
    parser.add_argument("--kubeconfig", type=Path, required=True, help="of a real kube-apiserver")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--shown", type=int, default=12)
    arguments = parser.parse_args()
    real, ours = RealServer(arguments.kubeconfig), EmbeddedServer()
    seen: dict[str, int] = {}
    accepted = panics = 0
    for seed, crd in islice(made_definitions(arguments.seed, "fuzz.crdroom.example.com"), arguments.count):
        first, second = definition_tells(real, crd), definition_tells(ours, crd)
        accepted += first["status"] == 201
        found = first_difference(first, second)
        if found is None:
            continue
        if not first["status"]:
            panics += 1
            continue
        sort = sort_of(found)
        seen[sort] = seen.get(sort, 0) + 1
        if seen[sort] > 1 or len(seen) > arguments.shown:
            continue

        def differs(each: object, sort: str = sort) -> bool:
            return sort_of(first_difference(definition_tells(real, each), definition_tells(ours, each))) == sort

        small = shrink(crd, differs)
        left = first_difference(definition_tells(real, small), definition_tells(ours, small))
        print(f"--- seed {seed}\n{json.dumps(small)}\n  at {left[0]}\n  real {left[1][:1500]}\n  ours {left[2][:1500]}", flush=True)
    print(f"{accepted} accepted of {arguments.count}; {sum(seen.values())} different, {panics} panics of the real server, of {len(seen)} sorts")


if __name__ == "__main__":
    main()
