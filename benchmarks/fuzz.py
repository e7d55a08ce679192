"""Sends many requests that make no sense, or only almost, to the embedded API server, and prints what it could not cope with.

    python benchmarks/fuzz.py [REQUESTS] [FIRST]

Each `BATCH` requests have a server of their own. The numbers of requests are their seeds: what is printed comes again. Exits with 1 if any
request was answered with an error of the server's own, took seconds, or raised.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.server.fuzz.judge import run
from tests.server.fuzz.requests import Generator
from tests.server.fuzz.samples import SAMPLES, kinds_of
from tests.server.talk import WIDGET_CRD, Talk

from setpoint.world import real_world

BATCH = 2_000


async def batch(first: int, count: int) -> tuple[list[str], dict[int, int]]:
    """What is wrong, and how often each status was answered."""
    talk = Talk(real_world())
    await talk.establish(WIDGET_CRD)
    generator = Generator(kinds_of(talk.server), SAMPLES)
    found = await run(talk.server, (generator.make(seed) for seed in range(first, first + count)))
    talk.server.stop()
    return list(found), found.counts


def main() -> None:
    """Runs all batches."""
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    counts: dict[int, int] = {}
    problems: list[str] = []
    began = time.perf_counter()
    for at in range(first, first + wanted, BATCH):
        found, answered = asyncio.run(batch(at, min(BATCH, first + wanted - at)))
        problems += found
        for status, times in answered.items():
            counts[status] = counts.get(status, 0) + times
        for problem in found:
            print(problem, flush=True)
    print(f"{wanted} requests in {time.perf_counter() - began:.0f} s, by status: {dict(sorted(counts.items()))}; {len(problems)} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
