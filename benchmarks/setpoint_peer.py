"""What `controller_runtime/` does, done with Setpoint, with everything on that a user has on: metrics and the flight recorder.

    KUBECONFIG=... python setpoint_peer.py sync -n 10000 [--compress]
    KUBECONFIG=... python setpoint_peer.py drain -n 10000 [--workers 1] [--get]
    KUBECONFIG=... python setpoint_peer.py rest

Prints one line of JSON, with CPU seconds and memory, under the names that the other program uses.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import json
import resource
import time
from pathlib import Path
from typing import Any

from setpoint import Condition, Context, Controller, Manager, Request, Resource, Struct, kind
from setpoint.client import Connection
from setpoint.client.config import load_config
from setpoint.client.http import HttpTransport
from setpoint.manager import Options
from setpoint.world import World, real_world
from setpoint.world.loop_thread import fast_loop


class NameValue(Struct):
    name: str
    value: str | None = None


class Port(Struct):
    name: str | None = None
    port: int | None = None
    target_port: int | None = None
    protocol: str | None = None


class Resources(Struct):
    requests: dict[str, str] = {}
    limits: dict[str, str] = {}


class Strategy(Struct):
    type: str | None = None
    max_surge: int | None = None
    max_unavailable: int | None = None


class Probe(Struct):
    path: str | None = None
    port: int | None = None
    period_seconds: int | None = None


class WidgetSpec(Struct):
    display_name: str | None = None
    description: str | None = None
    image: str | None = None
    image_pull_policy: str | None = None
    replicas: int | None = None
    paused: bool | None = None
    priority: int | None = None
    revision: int | None = None
    tier: str | None = None
    region: str | None = None
    owner: str | None = None
    schedule: str | None = None
    timeout_seconds: int | None = None
    ratio: str | None = None
    labels: dict[str, str] = {}
    args: list[str] = []
    env: list[NameValue] = []
    ports: list[Port] = []
    resources: Resources | None = None
    strategy: Strategy | None = None
    probe: Probe | None = None
    selector: dict[str, str] = {}


class WidgetStatus(Struct):
    observed_generation: int | None = None
    phase: str | None = None
    ready_replicas: int | None = None
    endpoint: str | None = None
    conditions: list[Condition] = []


@kind(group="bench.setpoint.dev", version="v1")
class Widget(Resource[WidgetSpec, WidgetStatus]):
    """The object of about 2 KB that both programs hold."""


def cpu() -> float:
    """Seconds of processor time so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def megabytes(field: str) -> float:
    """A line of the process's status, such as VmRSS or VmHWM."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{field}:"))


def emit(out: dict[str, Any]) -> None:
    """Prints the line, with what memory there is now and was at most."""
    peak, used = megabytes("VmHWM"), cpu()
    gc.collect()
    print(json.dumps(out | {"rss_gc_mb": megabytes("VmRSS"), "rss_peak_mb": peak, "cpu_s": used}))


@contextlib.asynccontextmanager
async def manager_of(world: World, controller: Controller[Widget], compress: bool = False) -> Any:
    """A manager over HTTP that runs, and has synced."""
    connection = Connection(HttpTransport(load_config(), world), world, user_agent="bench")
    manager = Manager(connection, options=Options())
    if compress:
        manager.cache.configure(Widget, compress=True)
    manager.add(controller)
    running = asyncio.create_task(manager.run())
    try:
        yield manager
    finally:
        manager.stop()
        await running
        await connection.close()
        await world.threads.close()


async def sync(count: int, compress: bool) -> None:
    """From the start until the copy is complete. There is a controller, since nothing is kept that nobody reads; it is not let run."""
    world = real_world()
    controller = Controller(Widget, name="widget")

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        await asyncio.Event().wait()

    began, before, rss = time.perf_counter(), cpu(), megabytes("VmRSS")
    async with manager_of(world, controller, compress) as manager:
        informer = manager.cache.informers[0]
        await informer.synced()
        seconds, used = time.perf_counter() - began, cpu() - before
        gc.collect()
        out = {"cmd": "sync", "n": count, "seconds": seconds, "cpu_phase_s": used, "items": len(informer)}
        emit(out | {"rss_grown_mb": megabytes("VmRSS") - rss})


async def drain(count: int, workers: int, get: bool) -> None:
    """The initial keys, each with a run that does nothing, or reads its object from the cache."""
    world, done = real_world(), asyncio.Event()
    seen = 0
    marks: list[tuple[float, float]] = []
    controller = Controller(Widget, name="widget", concurrency=workers)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        nonlocal seen
        if get:
            await ctx.get(Widget, request)
        seen += 1
        if seen in (1, count):
            marks.append((time.perf_counter(), cpu()))
            if seen == count:
                done.set()

    async with manager_of(world, controller):
        await done.wait()
    (first, before), (last, after) = marks
    taken = {"drain_s": last - first, "reconciles_per_s": count / (last - first), "drain_cpu_s": after - before}
    emit({"cmd": "drain", "n": count, "workers": workers, "get": get} | taken)


async def rest() -> None:
    """A manager with one controller and no object."""
    controller = Controller(Widget, name="widget")

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        return

    async with manager_of(real_world(), controller) as manager:
        await manager.cache.informers[0].synced()
        emit({"cmd": "rest"})


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["sync", "drain", "rest"])
    parser.add_argument("-n", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--get", action="store_true")
    parser.add_argument("--compress", action="store_true")
    asked = parser.parse_args()
    work = {
        "sync": lambda: sync(asked.n, asked.compress),
        "drain": lambda: drain(asked.n, asked.workers, asked.get),
        "rest": rest,
    }[asked.command]
    with asyncio.Runner(loop_factory=fast_loop) as runner:
        runner.run(work())


if __name__ == "__main__":
    main()
