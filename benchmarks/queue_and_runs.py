"""What the queue costs for each key, and a run that does nothing: CPU microseconds, on the standard loop or uvloop.

python benchmarks/queue_and_runs.py [uvloop]
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time

from setpoint.api import NotSent, Operation, Outcome
from setpoint.cache import Cache
from setpoint.client import Client, Connection
from setpoint.controller import Backoff, Context, Controller, ControllerRuntime, Queue
from setpoint.objects import Request, Resource, Scheme, Struct, kind
from setpoint.world import real_world

KEYS = [Request("default", f"object-{number}") for number in range(20_000)]


class Spec(Struct):
    pass


@kind(group="bench.example.com", version="v1")
class Thing(Resource[Spec, Spec]):
    """Anything."""


class Nowhere:
    """A transport to no server."""

    async def send(self, operation: Operation, /) -> Outcome:
        return NotSent("no server")

    async def close(self) -> None:
        """Nothing to let go of."""


def report(what: str, seconds: float) -> None:
    print(f"{what:<52} {seconds / len(KEYS) * 1e6:6.2f} us a key, {len(KEYS) / seconds:10,.0f} a second")


async def queue_alone() -> None:
    queue = Queue("bench", Backoff(real_world().chance))
    started = time.process_time()
    for key in KEYS:
        queue.add(key)
    for _ in KEYS:
        key = await queue.get()
        assert key is not None
        queue.done(key)
    report("add, get, done", time.process_time() - started)
    started = time.process_time()
    for key in KEYS:
        queue.add_after(key, 0.001)
    for _ in KEYS:
        key = await queue.get()
        assert key is not None
        queue.done(key)
    report("add_after, get, done", time.process_time() - started)


async def runs_of_nothing(concurrency: int, deadline: float | None, observed: bool) -> None:
    world = real_world()
    if observed:
        world.observer.subscribe(lambda event: None)
    connection = Connection(Nowhere(), world)
    controller = Controller(Thing, concurrency=concurrency, deadline=deadline)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        if request is KEYS[-1]:
            runtime.queue.shut_down()

    runtime = ControllerRuntime(controller, world=world, cache=Cache(connection, Scheme()), client=Client(connection))
    for key in KEYS:
        runtime.queue.add(key)
    started = time.process_time()
    workers = [asyncio.ensure_future(runtime._work()) for _ in range(concurrency)]
    await asyncio.gather(*workers)
    seconds = time.process_time() - started
    report(f"no-op run, {concurrency} workers, deadline {deadline}, {'observed' if observed else 'unobserved'}", seconds)


async def main() -> None:
    await queue_alone()
    await runs_of_nothing(1, None, False)
    await runs_of_nothing(8, None, False)
    await runs_of_nothing(8, None, True)
    await runs_of_nothing(8, 60.0, True)


if __name__ == "__main__":
    if "uvloop" in sys.argv[1:]:
        import uvloop

        uvloop.run(main())
    else:
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(main())
