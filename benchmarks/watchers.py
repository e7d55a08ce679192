"""What watching costs the embedded server: many watchers, many objects, and one watcher who does not read.

    python -m benchmarks.watchers [--watchers 1000] [--objects 50000] [--changes 200]

The server is `setpoint server --no-controllers`, a process of its own behind HTTPS; this one creates ConfigMaps of about 1 KB, opens a
watch for each watcher on a connection of its own, and changes objects. Printed are the server's memory by object and by watcher, its CPU
by delivery (what it used for the changes, less what the same changes cost it without watchers, over the number of events delivered), and
how long a change takes to watchers who read, with and without a neighbour who never does and is dropped. That is measured in the server's
own CPU time, from the request on until the reader has the event: it is what the server did first, whatever else keeps the machine busy.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.plane import MERGE, Line, Plane
from benchmarks.servers import embedded

MAPS = "/api/v1/namespaces/default/configmaps"
PADDING = "x" * 700
AT_A_TIME = 16
READERS = 10
MORE_THAN_WAIT = 30_000
"""More changes than wait for a watcher, in the server and on the way."""
_SEQUENCE = re.compile(rb'"sequence":"(\d+)"')


async def change(writer: Line, name: str, sequence: int) -> None:
    """Changes an object."""
    await writer.ask("PATCH", f"{MAPS}/{name}", {"data": {"sequence": str(sequence)}}, MERGE)


@dataclass
class Watcher:
    """A watch that is open, and the sequence number that it has come to."""

    line: Line
    seen: int = -1
    delays: list[float] = field(default_factory=list)

    async def read_until(self, sequence: int) -> None:
        """Reads until a change has come."""
        left = b""
        while self.seen < sequence:
            part = await self.line.reader.read(1 << 16)
            assert part, "the watch has ended"
            found = _SEQUENCE.findall(left + part)
            if found:
                self.seen = int(found[-1])
            left = part[-64:]


async def watch(server: Plane, version: str) -> Watcher:
    """Opens a watch from a version on; it is accepted."""
    line = await server.open()
    await line.follow(f"{MAPS}?watch=1&resourceVersion={version}&timeoutSeconds=3000")
    return Watcher(line)


async def main(server: Plane, watchers: int, objects: int, changes: int) -> None:
    """Runs it once, and prints the figures."""
    writers = [await server.open() for _ in range(AT_A_TIME)]
    before, used = server.memory, server.cpu
    await asyncio.gather(*(_create(writer, range(at, objects, AT_A_TIME)) for at, writer in enumerate(writers)))
    memory, cpu = (server.memory - before) / objects, (server.cpu - used) / objects
    print(f"{objects:,} objects of 1 KB: {memory:,.0f} bytes of memory each; {cpu * 1e6:,.0f} µs of CPU to create one")

    writer = writers[0]
    used = server.cpu
    for sequence in range(changes):
        await change(writer, "c0", sequence)
    alone = server.cpu - used

    before = server.memory
    opened = await _open(server, await _version(writer), watchers)
    print(f"{watchers:,} watchers: {(server.memory - before) / watchers:,.0f} bytes of memory each, with their connections")
    used = server.cpu
    reading = asyncio.gather(*(one.read_until(2 * changes - 1) for one in opened))
    for sequence in range(changes, 2 * changes):
        await change(writer, "c0", sequence)
    await reading
    delivered = changes * watchers
    each = (server.cpu - used - alone) / delivered
    print(f"{delivered:,} deliveries: {each * 1e6:.1f} µs of CPU each; a change alone {alone / changes * 1e6:,.0f} µs")
    for one in opened:
        one.line.close()

    await _slow(server, writers, 2 * changes)


async def _create(writer: Line, numbers: range) -> None:
    for number in numbers:
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"c{number}"}, "data": {"padding": PADDING}}
        await writer.ask("POST", MAPS, body)


async def _open(server: Plane, version: str, count: int) -> list[Watcher]:
    opened: list[Watcher] = []
    while len(opened) < count:
        opened += await asyncio.gather(*(watch(server, version) for _ in range(min(50, count - len(opened)))))
    return opened


async def _slow(server: Plane, writers: list[Line], sequence: int) -> None:
    """Changes objects until a watcher who never reads must have been dropped, and times how long changes take to those who read."""
    readers = await _open(server, await _version(writers[0]), READERS)
    quiet, sequence = await _delays(server, writers, readers, sequence, MORE_THAN_WAIT)
    slow = await watch(server, await _version(writers[0]))
    slow.line.writer.transport.pause_reading()  # type: ignore[attr-defined]
    before, first = server.memory, sequence
    beside, sequence = await _delays(server, writers, readers, sequence, MORE_THAN_WAIT)
    events = MORE_THAN_WAIT + sequence - first
    slow.line.writer.transport.resume_reading()  # type: ignore[attr-defined]
    got, end = 0, b""
    while not end.endswith(b"\n0\r\n\r\n"):  # the end of a chunked body
        part = await asyncio.wait_for(slow.line.reader.read(1 << 20), 60)
        got += part.count(b'"type":"MODIFIED"')
        if not part:
            break
        end = (end + part)[-8:]
    assert got < events, "the watcher who did not read got everything"
    print(f"from a change to one of {READERS} who read, while {AT_A_TIME} write: {quiet}")
    print(f"beside one who does not read: {beside}")
    print(f"who did not read was dropped: {got:,} of {events:,} events; the server's memory: {(server.memory - before) / 2**20:+.0f} MiB")


async def _version(writer: Line) -> str:
    version: str = json.loads(await writer.ask("GET", f"{MAPS}?limit=1"))["metadata"]["resourceVersion"]
    return version


@dataclass
class Delays:
    """From a request until a reader has the event: seconds, and what the server worked meanwhile; and that for each change in all."""

    seconds: list[float] = field(default_factory=list)
    worked: list[float] = field(default_factory=list)
    each: float = 0.0

    def __str__(self) -> str:
        worked, seconds = (statistics.quantiles(each, n=100) for each in (self.worked, self.seconds))
        return (
            f"{worked[49] * 1e3:.1f} ms of the server's CPU, 99th percentile {worked[98] * 1e3:.1f}, longest {max(self.worked) * 1e3:.1f} "
            f"({seconds[49] * 1e3:.0f} ms by the clock, 99th percentile {seconds[98] * 1e3:.0f}); {self.each * 1e6:,.0f} µs for a change"
        )


async def _delays(server: Plane, writers: list[Line], readers: list[Watcher], sequence: int, changes: int) -> tuple[Delays, int]:
    """How long it takes from the beginning of a change until each reader has it, of the changes that one writer makes beside busy others.

    The others' changes say the numbers before; gives the next number.
    """
    delays = Delays()
    left = iter(range(changes))
    first, *others = writers
    at_first, before = sequence, server.cpu

    async def busy(writer: Line, name: str) -> None:
        for number in left:
            await writer.ask("PATCH", f"{MAPS}/{name}", {"data": {"other": f"{sequence}-{number}"}}, MERGE)

    running = asyncio.gather(*(busy(writer, f"c{at}") for at, writer in enumerate(others, 1)))
    while not running.done():
        began, used = time.perf_counter(), server.cpu

        async def timed(one: Watcher, wanted: int = sequence, began: float = began, used: float = used) -> None:
            await one.read_until(wanted)
            delays.worked.append(server.cpu - used)
            delays.seconds.append(time.perf_counter() - began)

        await asyncio.gather(change(first, "c0", sequence), *(timed(one) for one in readers))
        sequence += 1
    await running
    delays.each = (server.cpu - before) / (changes + sequence - at_first)
    return delays, sequence


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--watchers", type=int, default=1000)
    parser.add_argument("--objects", type=int, default=50_000)
    parser.add_argument("--changes", type=int, default=200)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory, embedded(Path(directory)) as running:
        asyncio.run(main(running, given.watchers, given.objects, given.changes))
