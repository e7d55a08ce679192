"""The command line: `python -m tests.differential.customs --help`."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from tests.differential.servers import EmbeddedServer, RealServer, Server
from tests.differential.steps import Json

from .hunt import (
    CRDS,
    ask,
    definition_tells,
    established,
    first_difference,
    made_definitions,
    object_requests,
    object_tells,
    shrink,
    sort_of,
)


def main() -> None:
    """Compares the two servers."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential.customs")
    parser.add_argument("--kubeconfig", type=Path, required=True, help="of a real kube-apiserver")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--shown", type=int, default=12)
    parser.add_argument("--objects", action="store_true", help="make the definitions, and compare objects of them")
    arguments = parser.parse_args()
    real, ours = RealServer(arguments.kubeconfig), EmbeddedServer()
    hunt = _Hunt(real, ours, arguments.shown)
    if arguments.objects:
        for seed in range(arguments.seed, arguments.seed + arguments.count):
            hunt.objects(seed)
    else:
        for seed, crd in islice(made_definitions(arguments.seed, "fuzz.example.com"), arguments.count):
            hunt.definition(seed, crd)
    print(f"{dict(hunt.answers)}; {sum(hunt.seen.values())} different, of {len(hunt.seen)} sorts")


class _Hunt:
    def __init__(self, real: RealServer, ours: EmbeddedServer, shown: int) -> None:
        self.real, self.ours, self.shown = real, ours, shown
        self.seen: Counter[str] = Counter()
        self.answers: Counter[int] = Counter()

    def definition(self, seed: int, crd: Json) -> None:
        """Compares what is said to a definition."""
        self._compare(f"seed {seed}", crd, definition_tells)

    def objects(self, seed: int) -> None:
        """Makes a definition on both servers, and compares what is said to objects of it."""
        made = (
            crd
            for _, crd in made_definitions(seed * 1000, f"s{seed}.fuzz.example.com")
            if crd["spec"].get("group", "").endswith("fuzz.example.com")
        )
        crd = next(crd for crd in made if all(definition_tells(server, crd)["status"] == 201 for server in (self.ours, self.real)))
        try:
            for server in (self.real, self.ours):
                ask(server, "POST", CRDS, crd)
            for method, target, text, content_type in object_requests(seed, crd, established(self.real, crd)):

                def tells(server: Server, body: Json, method: str = method, target: str = target, content_type: str = content_type) -> Json:
                    return object_tells(server, method, target, body if isinstance(body, str) else json.dumps(body), content_type)

                self._compare(f"seed {seed} {method} {target}", text, tells)
        finally:
            for server in (self.real, self.ours):
                ask(server, "DELETE", f"{CRDS}/{crd['metadata']['name']}")

    def _compare(self, what: str, sent: Json, tells: Callable[[Server, Json], Json]) -> None:
        def difference(body: Json) -> tuple[str, str, str] | None:
            return first_difference(tells(self.real, body), tells(self.ours, body))

        first = tells(self.real, sent)
        self.answers[first["status"]] += 1
        if not first["status"] or (found := first_difference(first, tells(self.ours, sent))) is None:
            return
        sort = sort_of(found)
        self.seen[sort] += 1
        if self.seen[sort] > 1 or len(self.seen) > self.shown:
            return
        if not isinstance(sent, str):
            sent = shrink(sent, lambda body: sort_of(difference(body)) == sort)
        where, real, ours = difference(sent) or found
        print(
            f"--- {what}\n{sent if isinstance(sent, str) else json.dumps(sent)}\n  at {where}\n  real {real[:1500]}\n  ours {ours[:1500]}",
            flush=True,
        )


if __name__ == "__main__":
    main()
