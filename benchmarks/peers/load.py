"""Keeps a server busy: `python -m benchmarks.peers.load NAMESPACE COUNT RATE`, until it is ended.

It changes all widgets but the first, one after the other, so many a second.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
from pathlib import Path

from benchmarks.objects import name_of
from benchmarks.plane import MERGE, Plane


async def main(namespace: str, count: int, rate: float) -> None:
    """Changes one after the other, at times that do not depend on how long a change takes."""
    line = await Plane.of(Path(os.environ["KUBECONFIG"])).open()
    loop = asyncio.get_running_loop()
    began = loop.time()
    for turn in itertools.count():
        await asyncio.sleep(max(0.0, began + turn / rate - loop.time()))
        path = f"/apis/bench.setpoint.dev/v1/namespaces/{namespace}/widgets/{name_of(1 + turn % (count - 1))}"
        await line.ask("PATCH", path, {"spec": {"revision": turn + 2}}, MERGE)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))
