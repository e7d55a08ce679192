"""Prints everything that happens in a simulated run: operations, deliveries, queue moves, timers, runs. The argument is the seed."""

import hashlib
import sys
from datetime import timedelta
from pathlib import Path

from setpoint import Condition, Context, Controller, ObjectMeta, Request, Resource, Result, Struct, kind
from setpoint.cache.events import Delivered, ReflectorState
from setpoint.client.events import RequestDone, RequestSent
from setpoint.controller.events import QueueAdded, QueueTaken, RunEnded, RunStarted, TimerSet
from setpoint.testing import Cluster
from setpoint.world import Event

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "webapp"))
from webapp import WebApp, WebAppSpec
from webapp import controller as webapps


class TickSpec(Struct):
    every: int = 3600


class TickStatus(Struct):
    ticks: int = 0
    conditions: list[Condition] = []


@kind(group="test.example.com", version="v1")
class Tick(Resource[TickSpec, TickStatus]):
    """Counts hours."""


ticks = Controller(Tick)


@ticks.reconciler
async def tick(ctx: Context, request: Request) -> Result | None:
    found = await ctx.get(Tick, request)
    if found is None:
        return None
    created = found.metadata.creation_timestamp
    assert created is not None
    found.status.ticks = int((ctx.now() - created).total_seconds() // found.spec.every)  # from what is, not from how often it ran
    await ctx.update_status(found)
    return Result(requeue_after=found.spec.every)


def line(event: Event) -> str:
    match event:
        case RequestSent():
            operation = event.operation
            return (
                f"sent {operation} {hashlib.sha256(operation.body).hexdigest()[:12]} {sorted(operation.options.items())} by {operation.run}"
            )
        case RequestDone():
            return f"done {event.operation} {event.code}"
        case Delivered() | ReflectorState() | QueueAdded() | QueueTaken() | TimerSet() | RunStarted() | RunEnded():
            return repr(event)
    return type(event).__name__


def main(seed: str) -> list[str]:
    trace: list[str] = []
    with Cluster(seed=seed) as cluster:
        clock = cluster.world.clock
        cluster.world.observer.subscribe(lambda event: trace.append(f"{clock.monotonic():.6f} {line(event)}"))
        cluster.start(webapps, ticks)
        cluster.create(Tick(metadata=ObjectMeta(name="t", namespace="default"), spec=TickSpec()))
        for name in "abc":
            cluster.create(WebApp(metadata=ObjectMeta(name=name, namespace="default"), spec=WebAppSpec(image="x:1", replicas=2)))
        cluster.advance(timedelta(hours=1, minutes=1))
        found = cluster.get(Tick, "default/t")
        assert found is not None
        assert found.status.ticks == 1
        trace.extend(cluster.writes)
    return trace


if __name__ == "__main__":
    print("\n".join(main(sys.argv[1])))
