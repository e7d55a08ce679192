"""Setpoint, with everything on that a user has on: metrics and the flight recorder.

    KUBECONFIG=... python -m benchmarks.peers.setpoint_peer COMMAND -n COUNT --ns NAMESPACE [--workers 1] [--pods] [--compress]

    sync                      from the start until the copy is complete
    drain [--get | --list]    the initial keys: runs that do nothing, read their object, or list what it owns
    status                    one status write per object
    calls                     two calls per object: one read from the server, one status write
    latency                   says `ready`, and then for each change of the first object its revision and the time at which its run began
    converge                  says `started`, and gives each object a status until it is ended
    unchanged                 each object applies ten ConfigMaps; what it takes when nothing has to change

Each prints one line of JSON, with CPU seconds and memory, under the names that `controller_runtime/` uses.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import logging
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from benchmarks.objects import name_of
from benchmarks.peers.process import cpu, emit
from benchmarks.peers.widgets import Widget
from setpoint import Condition, Context, Controller, Manager, ObjectMeta, Request
from setpoint.client import Connection, HttpTransport, RequestSent, load_config
from setpoint.k8s.core.v1 import ConfigMap, Pod
from setpoint.manager import Options
from setpoint.world import real_world
from setpoint.world.loop_thread import fast_loop

CHILDREN = 10
PASSES = 5
"""So often everything is reconciled again, when nothing is left to do."""


@contextlib.asynccontextmanager
async def managed(asked: argparse.Namespace, controller: Controller[Any]) -> AsyncIterator[Manager]:
    """A manager over HTTP that runs a controller."""
    world = real_world()
    connection = Connection(HttpTransport(load_config(), world), world, user_agent="bench")
    manager = Manager(connection, options=Options(namespace=asked.ns, grace=0.1))
    if asked.compress:
        manager.cache.configure(controller.kind, compress=True)
    manager.add(controller)
    running = asyncio.create_task(manager.run())
    try:
        yield manager
    finally:
        manager.stop()
        await running
        await connection.close()
        await world.threads.close()


def declared(asked: argparse.Namespace, **more: Any) -> Controller[Any]:
    """The controller, without its reconciler."""
    return Controller(Pod if asked.pods else Widget, name="bench", concurrency=asked.workers, **more)


class Phase:
    """What it takes from the first run until so many are done."""

    def __init__(self, count: int) -> None:
        self._left, self._ended = count, asyncio.Event()
        self._began: tuple[float, float] | None = None
        self.count, self.seconds, self.cpu = count, 0.0, 0.0

    def begin(self) -> None:
        """A run begins; the first one begins the phase."""
        if self._began is None:
            self._began = time.perf_counter(), cpu()

    def done(self) -> None:
        """One is done; the last one ends the phase."""
        self._left -= 1
        if self._left == 0:
            assert self._began is not None
            self.seconds, self.cpu = time.perf_counter() - self._began[0], cpu() - self._began[1]
            self._ended.set()

    async def ended(self) -> None:
        """Returns when the last one is done."""
        await self._ended.wait()

    @property
    def figures(self) -> dict[str, float]:
        """As they are printed."""
        return {"phase_s": self.seconds, "phase_cpu_s": self.cpu, "per_s": self.count / self.seconds}


async def sync(asked: argparse.Namespace) -> dict[str, Any]:
    """There is a controller, since nothing is kept that nobody reads; its runs do not get anywhere."""
    controller = declared(asked)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        await asyncio.Event().wait()

    began, before = time.perf_counter(), cpu()
    async with managed(asked, controller) as manager:
        informer = manager.cache.informers[0]
        await informer.synced()
        emit({"seconds": time.perf_counter() - began, "cpu_phase_s": cpu() - before, "items": len(informer)})
    return {}


async def drain(asked: argparse.Namespace) -> dict[str, Any]:
    """The initial keys."""
    phase = Phase(asked.n)
    controller = declared(asked, owns=[ConfigMap] if asked.list else [])

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        phase.begin()
        if asked.get or asked.list:
            found = await ctx.get(controller.kind, request)
            if asked.list:
                assert len(await ctx.list(ConfigMap, namespace=request.namespace, owner=found)) == 1
        phase.done()

    async with managed(asked, controller):
        await phase.ended()
    return phase.figures


async def status(asked: argparse.Namespace) -> dict[str, Any]:
    """One write each; the changes that come of it ask for runs that find nothing to do."""
    mark, phase, errors = f"run-{time.time_ns():x}", Phase(asked.n), 0
    controller = declared(asked)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        nonlocal errors
        phase.begin()
        widget = await ctx.get(Widget, request, live=asked.command == "calls")
        assert widget is not None
        if widget.status.phase == mark:
            return
        set_status(widget, mark, ctx)
        try:
            await ctx.update_status(widget)
        except Exception:
            errors += 1
            raise
        phase.done()

    async with managed(asked, controller):
        await phase.ended()
    return phase.figures | {"errors": errors}


def set_status(widget: Widget, phase: str, ctx: Context) -> None:
    """All of it, conditions included, as the Go program does."""
    generation, now = widget.metadata.generation, ctx.now().replace(microsecond=0)
    widget.status.observed_generation, widget.status.phase = generation, phase
    widget.status.ready_replicas, widget.status.endpoint = widget.spec.replicas, f"http://{widget.name}.default.svc:80"
    told = (("Ready", "True", "AllReplicasReady", "all replicas are ready"), ("Progressing", "False", "Stable", "nothing to roll out"))
    widget.status.conditions = [
        Condition(type=t, status=s, reason=r, message=m, observed_generation=generation, last_transition_time=now) for t, s, r, m in told
    ]


async def latency(asked: argparse.Namespace) -> dict[str, Any]:
    """Until standard input ends. Times are those of the monotonic clock, in nanoseconds, which all processes of a machine share."""
    first, target, seen, settled = 0, name_of(0), 0, asyncio.Event()
    controller = declared(asked)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        nonlocal first, seen
        now = time.monotonic_ns()
        first += 1
        if first == asked.n:
            settled.set()
        if request.name == target:
            widget = await ctx.get(Widget, request)
            if widget is not None and widget.spec.revision not in (None, seen):
                seen = widget.spec.revision
                if first > asked.n:
                    print(seen, now, flush=True)

    async with managed(asked, controller):
        await settled.wait()
        before = cpu()
        print("ready", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
        used = cpu() - before
    return {"phase_cpu_s": used}


async def converge(asked: argparse.Namespace) -> dict[str, Any]:
    """Until the process is ended."""
    controller = declared(asked)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        widget = await ctx.get(Widget, request)
        if widget is None or widget.is_terminating:
            return
        widget.status.phase, widget.status.observed_generation = "Ready", widget.metadata.generation
        widget.status.ready_replicas = widget.spec.replicas
        await ctx.update_status(widget)

    print("started", flush=True)
    async with managed(asked, controller):
        await asyncio.Event().wait()
    return {}


async def unchanged(asked: argparse.Namespace) -> dict[str, Any]:
    """Everything is made first; then each object is asked for again, so many times."""
    made, passes, requests = Phase(asked.n), [Phase(asked.n) for _ in range(PASSES)], 0
    current = made
    controller = declared(asked, owns=[ConfigMap])

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        current.begin()
        widget = await ctx.get(Widget, request)
        assert widget is not None
        for number in range(CHILDREN):
            meta = ObjectMeta(name=f"{widget.name}-{number}", namespace=widget.namespace, labels={"widget": widget.name})
            await ctx.apply(ConfigMap(metadata=meta, data={"number": str(number), "image": widget.spec.image or ""}), owner=widget)
        if current is not made:
            current.done()
        elif all([await ctx.get(ConfigMap, f"{widget.name}-{number}", namespace=widget.namespace) for number in range(CHILDREN)]):
            settled[request] = None
            if len(settled) == asked.n:
                complete.set()

    settled: dict[Request, None] = {}
    complete = asyncio.Event()
    async with managed(asked, controller) as manager:
        await complete.wait()
        while not manager.is_idle:  # noqa: ASYNC110 - nobody is told of it
            await asyncio.sleep(0.05)

        def count(event: Any) -> None:
            nonlocal requests
            requests += isinstance(event, RequestSent)

        manager.world.observer.subscribe(count)
        for current in passes:
            manager.trigger_all(controller)
            await current.ended()
    runs = asked.n * PASSES
    return {"run_us": sum(each.cpu for each in passes) / runs * 1e6, "requests": requests / runs}


COMMANDS: dict[str, Callable[[argparse.Namespace], Coroutine[Any, Any, dict[str, Any]]]] = {
    "sync": sync,
    "drain": drain,
    "status": status,
    "calls": status,
    "latency": latency,
    "converge": converge,
    "unchanged": unchanged,
}


def main() -> None:
    """Reads the command line, works, and prints the line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("-n", type=int, default=10_000)
    parser.add_argument("--ns", default="default")
    parser.add_argument("--workers", type=int, default=1)
    for flag in ("get", "list", "pods", "compress"):
        parser.add_argument(f"--{flag}", action="store_true")
    asked = parser.parse_args()
    logging.basicConfig(level=logging.ERROR)
    with asyncio.Runner(loop_factory=fast_loop) as runner:
        out = runner.run(COMMANDS[asked.command](asked))
    if out:
        gc.collect()
        emit(out)


if __name__ == "__main__":
    main()
